import { describe, expect, test } from "vitest";
import { AgentError, type Card, type Operation, startCall } from "../../../envelope/index.js";
import type { HttpResponse } from "../../../transport/exchange.js";
import { createClientContext } from "../../client-context.js";
import type { IdSource, Peer } from "../../protocol.js";
import { connect } from "../client.js";

const card: Card = {
  name: "peer",
  description: "",
  version: "1",
  skills: [],
  inputModes: [],
  outputModes: [],
  capabilities: { streaming: true, push: false, extended: false, idempotentSend: false, resume: false, extensions: [] },
  security: { schemes: {}, anyOf: [] },
  interfaces: [],
};
const ids: IdSource = { now: () => 0, newId: () => "id" };

async function codeOf(version: "1.0" | "0.3", operation: Operation, status: number, body: string): Promise<string> {
  const answer: HttpResponse = { status, headers: { "content-type": "application/json" }, body };
  const peer: Peer = { url: "http://peer", version, binding: "HTTP+JSON", tenant: undefined, card };
  const link = { exchange: () => answer, close: async () => undefined };
  const { handler } = connect({ ...createClientContext({ link, ids }), peer });
  try {
    await (handler(operation, startCall()) as Promise<unknown>); // none of these operations streams
    return "no error";
  } catch (thrown) {
    return AgentError.from(thrown).code;
  }
}

const get: Operation = { kind: "task.get", taskId: "t" };
const cancel: Operation = { kind: "task.cancel", taskId: "t" };

// As the Python SDK 0.3.3 answers over REST: only a message and the status.
describe("an error with a bare message", () => {
  test("is interpreted by the operation, in 0.3", async () => {
    expect(await codeOf("0.3", get, 404, '{"message":"Task not found"}')).toBe("task_not_found");
    expect(await codeOf("0.3", cancel, 404, '{"message":"Task not found"}')).toBe("task_not_found");
    expect(await codeOf("0.3", cancel, 409, '{"message":"Task cannot be canceled"}')).toBe("not_cancelable");
    expect(await codeOf("0.3", { kind: "ping" }, 404, '{"message":"Task not found"}')).toBe("no error");
  });

  test("is no evidence in 1.0, nor from another server", async () => {
    expect(await codeOf("1.0", get, 404, '{"message":"Task not found"}')).toBe("not_found");
    expect(await codeOf("0.3", get, 404, '{"detail":"Not Found"}')).toBe("not_found");
    expect(await codeOf("0.3", { kind: "ping" }, 404, "<h1>Not Found</h1>")).toBe("not_found");
  });
});
