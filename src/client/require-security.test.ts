import { describe, expect, it } from "vitest";
import {
  ARRIVED_OVER_TLS,
  type Call,
  type Envelope,
  type Floor,
  floorOf,
  NO_FLOOR,
  newEnvelope,
  type Operation,
  type Part,
  REQUIREMENTS,
  type Requirement,
  raiseFloor,
  SEALED_TYPE,
  startCall,
  textPart,
} from "../envelope/index.js";
import type { PolicyNote } from "../policies/index.js";
import { type Traits, tlsProtection } from "../protocols/index.js";
import { clearTextLimit } from "./clear-text.js";
import { type FloorOptions, FloorRules } from "./floor-rules.js";
import { requireSecurity } from "./require-security.js";

const plain: Traits = {
  streaming: false,
  tasks: false,
  resume: false,
  idempotentSend: false,
  inputTurns: false,
  signed: "none",
  sealed: "none",
  binary: false,
  proofs: false,
  carries: [],
};
const NOON = Date.parse("2026-06-15T12:00:00Z");

interface Case {
  readonly url: string;
  readonly dialled?: string;
  readonly traits?: Partial<Traits>;
  readonly provided?: Floor;
  readonly options?: FloorOptions;
  readonly now?: number;
  readonly operation?: Operation;
}

/** An interface that records the calls it is given. */
function secured({ url, dialled = url, traits, provided, options = {}, now = NOON, operation }: Case) {
  const heard: Call[] = [];
  const notes: PolicyNote[] = [];
  const client = {
    handler: async (_: unknown, call: Call) => {
      heard.push(call);
      return { kind: "done" } as const;
    },
    protection: () => provided ?? tlsProtection(url),
  };
  const rules = new FloorRules(dialled, { id: "peer", notes: (note) => notes.push(note), ...options }, { now: () => now });
  const protocol = { id: "toy", traits: { ...plain, ...traits } };
  const handler = requireSecurity(client.handler, { protocol, client, url, dialled }, rules);
  return { heard, notes, send: (floor: Floor) => handler(operation ?? { kind: "ping" }, startCall({ floor })) };
}

/** Which requirements get through, each by itself. */
async function met(given: Case): Promise<readonly Requirement[]> {
  const through: Requirement[] = [];
  for (const requirement of REQUIREMENTS) {
    const { send, heard } = secured(given);
    await Promise.resolve(send(floorOf([requirement]))).catch((thrown: unknown) =>
      expect(thrown).toMatchObject({ code: "downgrade_refused", facts: { sent: "no", detail: { requirement } } }),
    );
    if (heard.length > 0) through.push(requirement);
  }
  return through;
}

describe("requireSecurity()", () => {
  it("passes a call without requirements unchanged", async () => {
    const { send, heard, notes } = secured({ url: "http://a.example" });
    await expect(send(NO_FLOOR)).resolves.toEqual({ kind: "done" });
    expect([heard.length, notes.length]).toEqual([1, 0]);
  });

  it("rejects what the client does not insist on, before anything is sent", async () => {
    expect(await met({ url: "http://a.example" })).toEqual([]);
    expect(await met({ url: "https://a.example" })).toEqual(["encrypted", "identity"]);
    expect(await met({ url: "wss://a.example" })).toEqual(["encrypted", "identity"]);
    expect(await met({ url: "http://a.example", provided: floorOf(REQUIREMENTS) })).toEqual(REQUIREMENTS);
  });

  it("does not count the TLS of an address that is rewritten to one without", async () => {
    const rewritten = { url: "https://gw.example", dialled: "http://10.0.0.7:9000" };
    expect(await met(rewritten)).toEqual([]);
    const own = { signed: "hop", sealed: "hop" } as const;
    expect(await met({ ...rewritten, traits: own, provided: floorOf(REQUIREMENTS) })).toEqual(REQUIREMENTS);
  });

  it("counts what the message has by itself", async () => {
    const bytes = new Uint8Array([1]);
    const sealed: Part = { kind: "raw", bytes, mediaType: SEALED_TYPE };
    const proofs = [{ scheme: "s", signer: "did:x:1", keyId: "did:x:1#1", signed: bytes, signature: bytes }];
    const clear = textPart("in clear");
    const cases: readonly [Pick<Envelope, "content" | "proofs">, boolean, readonly Requirement[]][] = [
      [{ content: [sealed] }, true, ["encrypted", "end-to-end"]],
      [{ content: [sealed, clear] }, true, []],
      [{ content: [] }, true, []],
      [{ content: [clear], proofs }, true, ["signed"]],
      [{ content: [clear], proofs }, false, []],
      [{ content: [clear], proofs: [] }, true, []],
    ];
    for (const [message, carries, expected] of cases) {
      const made = newEnvelope({ content: "", src: "a", dst: "b", context: {} }, { now: () => 0, newId: () => "1" });
      const operation = { kind: "send", envelope: { ...made, ...message }, delivery: "answer", task: "auto" } as const;
      expect(await met({ url: "http://a.example", traits: { proofs: carries }, operation })).toEqual(expected);
    }
  });

  it("lets a sealed message go anywhere", async () => {
    const made = newEnvelope({ content: "", src: "a", dst: "b", context: {} }, { now: () => 0, newId: () => "1" });
    const envelope = { ...made, content: [{ kind: "raw", bytes: new Uint8Array([1]), mediaType: SEALED_TYPE } as const] };
    const operation = { kind: "send", envelope, delivery: "answer", task: "auto" } as const;
    const { send, heard } = secured({ url: "http://192.0.3.1", operation });
    await send(floorOf(["encrypted", "end-to-end"]));
    expect(heard.map(clearTextLimit)).toEqual(["public"]);
  });

  it("raises the floor of every call to what the peer is configured to require", async () => {
    const { send, heard } = secured({ url: "http://10.0.0.7", options: { require: ["encrypted"] } });
    await expect(send(NO_FLOOR)).rejects.toMatchObject({ code: "downgrade_refused" });
    expect(heard).toEqual([]);
    const tls = secured({ url: "https://a.example", options: { require: ["encrypted"] } });
    await tls.send(NO_FLOOR);
    expect(tls.heard[0]?.floor.encrypted).toBe(true);
  });

  it.each([
    ["http://10.0.0.7:9000", "private"],
    ["http://[fd00::7]:9000", "private"],
    ["http://127.0.0.1:9000", "loopback"],
    ["http://localhost:9000", "loopback"],
  ] as const)("sends what arrived over TLS on to %s, and notes it", async (url, limit) => {
    const { send, heard, notes } = secured({ url });
    await send(ARRIVED_OVER_TLS);
    expect(heard.map(clearTextLimit)).toEqual([limit]);
    expect(notes).toMatchObject([{ kind: "floor", outcome: "lowered", requirement: "encrypted", destination: "peer" }]);
  });

  it.each([
    ["a public address", { url: "http://192.0.3.1" }, ARRIVED_OVER_TLS],
    ["a link-local address", { url: "http://169.254.1.1" }, ARRIVED_OVER_TLS],
    ["a name that was not resolved", { url: "http://a.example" }, ARRIVED_OVER_TLS],
    ["a private address that the peer named", { url: "http://10.0.0.8", dialled: "http://10.0.0.8" }, floorOf(["encrypted"])],
    ["a configuration for this host only", { url: "http://10.0.0.7", options: { clearText: "loopback" } }, ARRIVED_OVER_TLS],
    ["a peer that requires more", { url: "http://10.0.0.7", options: { require: ["encrypted"] } }, ARRIVED_OVER_TLS],
    ["a call that requires more", { url: "http://10.0.0.7" }, raiseFloor(ARRIVED_OVER_TLS, floorOf(["encrypted"]))],
    ["a signed call", { url: "http://10.0.0.7" }, raiseFloor(ARRIVED_OVER_TLS, floorOf(["signed"]))],
  ] as readonly (readonly [string, Case, Floor])[])("refuses %s, and notes it", async (_, given, floor) => {
    const { send, heard, notes } = secured(given);
    await expect(send(floor)).rejects.toMatchObject({ code: "downgrade_refused" });
    expect(heard).toEqual([]);
    expect(notes.at(-1)).toMatchObject({ kind: "floor", outcome: "refused" });
  });

  it("keeps what stays on this host, even where encryption is required", async () => {
    const { send, heard } = secured({ url: "http://127.0.0.1:9000", options: { clearText: "loopback" } });
    await send(floorOf(["encrypted"]));
    expect(heard.map(clearTextLimit)).toEqual(["loopback"]);
  });

  it("lets an opening lower what it names, until its last day has ended", async () => {
    const openings = [{ lowers: ["encrypted"], reason: "until the partner has a certificate", until: "2026-06-15" }] as const;
    const open = { url: "http://192.0.3.1", options: { openings } };
    const { send, heard, notes } = secured(open);
    await send(floorOf(["encrypted"]));
    expect(heard.map(clearTextLimit)).toEqual(["public"]);
    expect(notes).toMatchObject([
      { outcome: "lowered", because: "opened until 2026-06-15: until the partner has a certificate" },
    ]);
    await expect(send(floorOf(["signed"]))).rejects.toMatchObject({ code: "downgrade_refused" });
    const last = secured({ ...open, now: Date.parse("2026-06-15T23:59:59.999Z") });
    await expect(last.send(floorOf(["encrypted"]))).resolves.toEqual({ kind: "done" });
    const ended = secured({ ...open, now: Date.parse("2026-06-16T00:00:00Z") });
    await expect(ended.send(floorOf(["encrypted"]))).rejects.toMatchObject({ code: "downgrade_refused" });
  });
});
