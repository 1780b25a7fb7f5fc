import { describe, expect, test } from "vitest";
import type { AgentEvent, Envelope } from "../../../envelope/index.js";
import { sha256 } from "../../../security/hashes.js";
import type { StreamPosition } from "../message/sealed-content.js";
import { EventOpener } from "./opened-events.js";
import { EventSealer } from "./sealed-events.js";
import { SageSession } from "./session.js";

const START = Date.parse("2026-11-17T12:00:00Z");
const [ANN, BOB] = ["did:sage:local:0xa", "did:sage:local:0xb"];
const CALL: Envelope = {
  ...{ id: "m-1", ts: 0, src: "", dst: "", intent: "", role: "user", content: [], context: {}, meta: {} },
};

function sessions(): { readonly ann: SageSession; readonly bob: SageSession } {
  const start = { secret: sha256("secret"), transcript: sha256("transcript"), keyId: "k", pinned: [], pendingMs: 300_000 };
  const clock = { now: () => START };
  const ann = new SageSession({ ...start, ...clock, role: "initiator", ownDid: ANN, peerDid: BOB });
  const bob = new SageSession({ ...start, ...clock, role: "responder", ownDid: BOB, peerDid: ANN });
  bob.confirm();
  return { ann, bob };
}

const word = (text: string): AgentEvent => ({
  ...{ kind: "artifact", taskId: "t", contextId: "c", append: true, last: false },
  artifact: { id: "a", parts: [{ kind: "text", text }] },
});
const END: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "completed", at: 0 } };

describe("a stream that continues another", () => {
  /** Three words are sealed in the first stream, of which the gateway passes on some; the rest of the answer comes in a second one. */
  async function read(passed: number, after: StreamPosition | undefined | "sealed", message = "m-1"): Promise<string> {
    const { ann, bob } = sessions();
    const first = new EventSealer(bob, { stream: bob.openStream(), namesTasks: true });
    const pieces = [];
    for (const text of ["one ", "two ", "three "].slice(0, passed)) pieces.push(await first.seal(word(text)));
    const position = first.position;
    const continues = { message, after: after === "sealed" ? position : after };
    const second = new EventSealer(bob, { stream: bob.openStream(), namesTasks: true, continues });
    for (const event of [word("four "), END]) pieces.push(await second.seal(event));
    const opener = new EventOpener(ann, { plain: CALL, sealed: CALL });
    let text = "";
    for (const piece of pieces) {
      const opened = await opener.next(piece);
      if (opened.kind === "artifact") for (const part of opened.artifact.parts) if (part.kind === "text") text += part.text;
    }
    return text;
  }

  const order = { facts: { detail: { reason: "stream.order" } } };

  test("where it was lost: the answer is whole", async () => {
    expect(await read(3, "sealed")).toBe("one two three four ");
    expect(await read(0, "sealed")).toBe("four ");
  });

  test("after records that did not arrive, or before some that did: refused", async () => {
    const other = "AAAAAAAAAAAAAAAAAAAAAA";
    await expect(read(2, { stream: other, records: 2 })).rejects.toMatchObject(order);
    await expect(read(2, undefined)).rejects.toMatchObject(order);
    await expect(read(0, { stream: other, records: 1 })).rejects.toMatchObject(order);
  });

  test("with a gap or a repetition in the first stream: refused", async () => {
    for (const records of [1, 3]) {
      const { ann, bob } = sessions();
      const stream = bob.openStream();
      const first = new EventSealer(bob, { stream });
      const pieces = [await first.seal(word("one ")), await first.seal(word("two "))];
      const continues = { message: "m-1", after: { stream: stream.id, records } };
      const second = new EventSealer(bob, { stream: bob.openStream(), continues });
      const opener = new EventOpener(ann, { plain: CALL, sealed: CALL });
      for (const piece of pieces) await opener.next(piece);
      await expect(opener.next(await second.seal(word("three ")))).rejects.toMatchObject(order);
    }
  });

  test("as the answer to another message: refused", async () => {
    await expect(read(0, "sealed", "m-2")).rejects.toMatchObject(order);
  });

  test("that continues nothing, while the one before it is not complete: refused", async () => {
    const { ann, bob } = sessions();
    const opener = new EventOpener(ann, { plain: CALL, sealed: CALL });
    await opener.next(await new EventSealer(bob, { stream: bob.openStream() }).seal(word("one ")));
    const other = await new EventSealer(bob, { stream: bob.openStream() }).seal(word("two "));
    await expect(opener.next(other)).rejects.toMatchObject(order);
  });
});
