import { describe, expect, it } from "vitest";
import { AgentError, ERRORS } from "../../envelope/index.js";
import { readReply } from "./codec.js";
import { decodeErrorReply, errorReply, HTTP_STATUS, unsuitable } from "./errors.js";

const PLAIN = { dialect: "python", whole: false } as const;

describe("errorReply()", () => {
  it("never uses 200 for an error: the library's sender would take it for the answer", () => {
    expect(Object.keys(HTTP_STATUS).sort()).toEqual(Object.keys(ERRORS).sort());
    for (const status of Object.values(HTTP_STATUS)) expect(status).toBeGreaterThanOrEqual(400);
  });

  it("includes the retry delay and the authentication scheme", () => {
    const busy = errorReply(new AgentError("overloaded", "later", { retryAfterMs: 1_500 }), PLAIN);
    expect(busy).toMatchObject({ status: 429, headers: { "retry-after": "2" } });
  });

  it("is exactly `rejected` in the dialect of the specification, with more for a Koine peer", () => {
    expect(errorReply(unsuitable("h"), { dialect: "spec", whole: false })).toMatchObject({
      status: 200,
      body: '{"status":"rejected"}',
    });
    expect(errorReply(unsuitable("h"), { dialect: "spec", whole: true })).toMatchObject({ status: 422 });
    expect(errorReply(new AgentError("unsupported", "no"), { dialect: "spec", whole: false })).toMatchObject({
      status: 422,
      body: '{"status":"failure","body":"no"}',
    });
  });
});

describe("decodeErrorReply()", () => {
  it("restores every error code of a Koine peer", () => {
    for (const code of Object.keys(ERRORS) as (keyof typeof ERRORS)[]) {
      const { body, status } = errorReply(new AgentError(code, "why"), { dialect: "python", whole: true });
      const error = decodeErrorReply(readReply(JSON.parse(String(body))), { status });
      expect([error.code, error.message, error.facts.status]).toEqual([code, "why", status]);
    }
  });

  it("decodes every dialect without it", () => {
    const understood = (reply: object, status = 200) => decodeErrorReply(readReply(reply), { status }).code;
    expect(understood({ status: "rejected" })).toBe("unsupported");
    expect(understood({ status: "error", message: "abc= is not suitable for execution" })).toBe("unsupported");
    expect(understood({ status: "error", message: "Conversation not found." })).toBe("session_expired");
    expect(understood({ status: "error", message: "'protocolSources'" })).toBe("bad_peer");
    expect(understood({ status: "failure", body: "no" })).toBe("bad_peer");
    expect(understood({ status: "error", message: "who?" }, 401)).toBe("unauthenticated");
    expect(understood({ status: "error", message: "x", metadata: { code: "made_up" } }, 503)).toBe("unavailable");
  });
});
