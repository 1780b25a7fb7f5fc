import { describe, expect, it } from "vitest";
import {
  type Envelope,
  type Floor,
  NO_FLOOR,
  newEnvelope,
  type Operation,
  type Part,
  SEALED_TYPE,
  startCall,
  textPart,
} from "../envelope/index.js";
import type { Traits } from "../protocols/protocol.js";
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

/** Which demands get through, each by itself. */
async function met(traits: Partial<Traits>, url: string, operation: Operation = { kind: "ping" }): Promise<readonly string[]> {
  const handler = requireSecurity(async () => ({ kind: "done" }), { id: "toy", traits: { ...plain, ...traits } }, { url });
  const through: string[] = [];
  for (const demand of ["encrypted", "signed", "endToEnd", "identity"] satisfies readonly (keyof Floor)[]) {
    try {
      await handler(operation, startCall({ floor: { ...NO_FLOOR, [demand]: true } }));
      through.push(demand);
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: "downgrade_refused", facts: { sent: "no" } });
    }
  }
  return through;
}

describe("requireSecurity()", () => {
  it("passes a call without requirements", async () => {
    const handler = requireSecurity(async () => ({ kind: "done" }), { id: "toy", traits: plain }, { url: "http://a.example" });
    await expect(handler({ kind: "ping" }, startCall())).resolves.toEqual({ kind: "done" });
  });

  it("rejects operations the interface does not protect, before anything is sent", async () => {
    expect(await met({}, "http://a.example")).toEqual([]);
    expect(await met({}, "https://a.example")).toEqual(["encrypted", "identity"]);
    expect(await met({ signed: "hop", sealed: "hop" }, "http://a.example")).toEqual(["encrypted", "signed", "identity"]);
    expect(await met({ signed: "end-to-end", sealed: "end-to-end" }, "http://a.example")).toEqual([
      "encrypted",
      "signed",
      "endToEnd",
      "identity",
    ]);
  });

  it("counts what the message has by itself", async () => {
    const bytes = new Uint8Array([1]);
    const sealed: Part = { kind: "raw", bytes, mediaType: SEALED_TYPE };
    const proofs = [{ scheme: "s", signer: "did:x:1", keyId: "did:x:1#1", signed: bytes, signature: bytes }];
    const clear = textPart("in clear");
    const cases: readonly [Pick<Envelope, "content" | "proofs">, boolean, readonly string[]][] = [
      [{ content: [sealed] }, true, ["encrypted", "endToEnd"]],
      [{ content: [sealed, clear] }, true, []],
      [{ content: [] }, true, []],
      [{ content: [clear], proofs }, true, ["signed"]],
      [{ content: [clear], proofs }, false, []],
      [{ content: [clear], proofs: [] }, true, []],
    ];
    for (const [message, carries, expected] of cases) {
      const made = newEnvelope({ content: "", src: "a", dst: "b", context: {} }, { now: () => 0, newId: () => "1" });
      const envelope = { ...made, ...message };
      const send = { kind: "send", envelope, delivery: "answer", task: "auto" } as const;
      expect(await met({ proofs: carries }, "http://a.example", send)).toEqual(expected);
    }
  });
});
