import { describe, expect, test } from "vitest";
import { AgentError, ANONYMOUS, type Principal } from "../envelope/index.js";
import { RequestAdmission } from "../protocols/request-admission.js";
import type { RequestHead } from "../transport/exchange.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { makeRequest } from "../transport/request.js";
import { bearerTokens, describeSecurity } from "./admission.js";
import { AUTHENTICATED_INTERVAL_MS, auditKeys, auditTrail, INDIVIDUAL_REFUSALS, withAudit } from "./audit.js";
import { type AuditEntry, formatEntry, parseEntry } from "./audit-entry.js";
import { assertMayBind } from "./bind-rule.js";
import { createResolver } from "./identity/index.js";
import { createReplayGuard } from "./replay/index.js";

const TOKEN = "token-of-ann-0123456789";
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const asking = (token: string, url = "http://x/a2a?api_key=s3cret") =>
  makeRequest({
    method: "POST",
    url,
    headers: { authorization: `Bearer ${token}`, traceparent: `00-${TRACE}-b7ad6b7169203331-01` },
    body: "s3cret body",
  });

function recording() {
  const entries: AuditEntry[] = [];
  let nowMs = Date.parse("2026-01-31T12:00:00Z");
  const sink = { record: (entry: AuditEntry) => void entries.push(entry), close: () => Promise.resolve() };
  function later(ms: number): void {
    nowMs += ms;
  }
  return { entries, sink, ids: { now: () => nowMs }, later };
}

describe("withAudit()", () => {
  test("records a caller when it is first seen, and again after the interval with the calls in between", () => {
    const { sink, ids, entries, later } = recording();
    const admit = withAudit(bearerTokens(new Map([["ann", TOKEN]])), sink, ids);
    for (let index = 0; index < 5; index++) admit(asking(TOKEN));
    expect(entries).toEqual([
      {
        at: "2026-01-31T12:00:00.000Z",
        event: "authenticated",
        who: "ann",
        scheme: "bearer",
        what: "POST /a2a",
        traceId: TRACE,
        remote: "memory",
        calls: undefined,
      },
    ]);
    later(AUTHENTICATED_INTERVAL_MS);
    admit(asking(TOKEN));
    expect(entries.slice(1)).toMatchObject([{ event: "authenticated", who: "ann", calls: 5 }]);
  });

  test("records every rejection, also a late one, and passes the error unchanged", async () => {
    const { sink, ids, entries } = recording();
    const refused = new AgentError("unavailable", "the issuer is away");
    const admit = withAudit(bearerTokens(new Map([["ann", TOKEN]])), sink, ids);
    const later = withAudit(
      Object.assign(() => Promise.reject<Principal>(refused)),
      sink,
      ids,
    );
    expect(() => admit(asking("wrong-token-wrong-token"))).toThrow("unknown bearer token");
    await expect(later(asking(TOKEN))).rejects.toBe(refused);
    expect(entries).toMatchObject([
      {
        event: "refused",
        who: "unknown",
        what: "POST /a2a",
        code: "unauthenticated",
        reason: "unknown bearer token",
      },
      { event: "refused", who: "unknown", code: "unavailable", reason: "the issuer is away", traceId: TRACE },
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/s3cret|token-of|wrong-token/);
  });

  test("otherwise behaves like the wrapped admission", () => {
    const { sink, ids } = recording();
    const plain = bearerTokens(new Map([["ann", TOKEN]]));
    const audited = withAudit(plain, sink, ids);
    expect(audited(asking(TOKEN))).toEqual(plain(asking(TOKEN)));
    expect(describeSecurity(audited)).toEqual(describeSecurity(plain));
    expect([audited.open, audited.challenge, audited.claims?.(asking(TOKEN))]).toEqual([false, plain.challenge, true]);
    expect("open" in withAudit(() => ANONYMOUS, sink, ids)).toBe(false);
  });
});

describe("auditTrail()", () => {
  test("records a refusal after admission once, with the caller's name", async () => {
    const { sink, ids, entries } = recording();
    const trail = auditTrail(sink, ids);
    const admission = new RequestAdmission(trail.admission(bearerTokens(new Map([["ann", TOKEN]]))), () => ({
      target: "",
      replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: ids.now }),
      resolver: createResolver(),
      ...ids,
    }));
    const admit = (request: RequestHead) => admission.admit(request);
    const statuses = [200, 401, 403, 404];
    for (const status of statuses) {
      const exchange = trail.exchange(async (request) => {
        await admit(request);
        return { status, headers: {}, body: "" };
      });
      await exchange(asking(TOKEN));
    }
    const guarded = trail.exchange(async (request) => {
      try {
        await admit(request);
      } catch {
        return { status: 401, headers: {}, body: "" };
      }
      return { status: 200, headers: {}, body: "" };
    });
    await guarded(asking("wrong-token-wrong-token"));
    expect(entries.map(({ event, who, code }) => [event, who, code])).toEqual([
      ["authenticated", "ann", undefined],
      ["refused", "ann", "unauthenticated"],
      ["refused", "ann", "forbidden"],
      ["refused", "unknown", "unauthenticated"],
    ]);
  });
});

describe("a flood of refusals", () => {
  const from = (remote: string) =>
    makeRequest({ method: "GET", url: "http://x/a2a", connection: { remote, secure: false, loopback: false } });
  const nobody = (): never => {
    throw new AgentError("unauthenticated", "nobody gets in");
  };

  test("is counted, not written: earlier entries stay in the log", () => {
    const { sink, ids, entries, later } = recording();
    const admit = withAudit(nobody, sink, ids);
    const ask = (times: number, remote = "192.0.2.1"): void => {
      for (let index = 0; index < times; index++) expect(() => admit(from(remote))).toThrow("nobody");
    };
    ask(1_000);
    expect(entries).toHaveLength(INDIVIDUAL_REFUSALS + 3);
    expect(entries.slice(-4).map(({ calls }) => calls)).toEqual([undefined, 64, 128, 256]);
    ask(1, "192.0.2.2");
    expect(entries.at(-1)).toMatchObject({ remote: "192.0.2.2", calls: undefined });
    later(300_000);
    ask(1);
    expect(entries.at(-1)).toMatchObject({ remote: "192.0.2.1", calls: 1_000 - 512 + 1 });
  });

  test("is one flood from all addresses of one IPv6 network", () => {
    const { sink, ids, entries } = recording();
    const admit = withAudit(nobody, sink, ids);
    for (let index = 0; index < 1_000; index++) expect(() => admit(from(`2001:db8::${index.toString(16)}`))).toThrow("nobody");
    expect(entries).toHaveLength(INDIVIDUAL_REFUSALS + 3);
  });
});

test("a refusal to listen and key events are recorded too", () => {
  const { sink, ids, entries } = recording();
  expect(() => assertMayBind({ host: "0.0.0.0", admission: undefined, audit: sink })).toThrow("without authentication");
  auditKeys(sink, "https://issuer.example", ids)({ event: "key.rotated", reason: "2 keys" });
  expect(entries).toMatchObject([
    { event: "refused", who: "operator", what: "listen on 0.0.0.0", code: "forbidden" },
    { event: "key.rotated", who: "https://issuer.example", reason: "2 keys" },
  ]);
});

describe("formatEntry()", () => {
  const entry: AuditEntry = { at: "2026-01-31T12:00:00.000Z", event: "refused", who: "unknown", what: "GET /" };

  test("keeps caller text on one line, bounded, without control characters", () => {
    const hostile = 'x\r\n{"prev":"","event":"authenticated"}\u001b[2J\u009b2J\u2028\u202e\u007f\u0000"';
    const line = formatEntry({ ...entry, reason: hostile, what: `GET /${"y".repeat(100_000)}` }, "0".repeat(64));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e]/);
    expect(line.length).toBeLessThan(4_000);
    expect(parseEntry(line)).toMatchObject({ event: "refused", reason: hostile });
  });

  test("is read back, and incomplete lines are skipped", () => {
    const line = formatEntry(entry, "0".repeat(64));
    expect(parseEntry(line)).toEqual({ prev: "0".repeat(64), ...entry });
    for (const torn of [line.slice(0, -1), "", "[]", "{}", '{"prev":1}']) expect(parseEntry(torn)).toBeUndefined();
  });
});
