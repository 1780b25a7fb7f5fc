import { describe, expect, it } from "vitest";
import { type Floor, NO_FLOOR, startCall } from "../envelope/index.js";
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
  carries: [],
};

/** Which demands get through, each by itself. */
async function met(traits: Partial<Traits>, url: string): Promise<readonly string[]> {
  const handler = requireSecurity(async () => ({ kind: "done" }), { id: "toy", traits: { ...plain, ...traits } }, { url });
  const through: string[] = [];
  for (const demand of ["encrypted", "signed", "endToEnd", "identity"] satisfies readonly (keyof Floor)[]) {
    try {
      await handler({ kind: "ping" }, startCall({ floor: { ...NO_FLOOR, [demand]: true } }));
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
});
