import { describe, expect, it } from "vitest";
import { type Call, type Envelope, type Handler, NO_CONTEXT, type Operation, startCall } from "../envelope/index.js";
import { HOPS_KEY, refuseLoops, withHops } from "./hops.js";

const HELLO: Envelope = {
  id: "m",
  ts: 0,
  src: "a",
  dst: "b",
  intent: "",
  role: "user",
  content: [{ kind: "text", text: "hello" }],
  context: NO_CONTEXT,
  meta: {},
};

function heardBy(most: number): { readonly handler: Handler; readonly heard: { operation: Operation; call: Call }[] } {
  const heard: { operation: Operation; call: Call }[] = [];
  const handler = refuseLoops(most)((operation, call) => {
    heard.push({ operation, call });
    return Promise.resolve({ kind: "done" });
  });
  return { handler, heard };
}

const send = (envelope: Envelope): Operation => ({ kind: "send", envelope, delivery: "answer", task: "auto" });

describe("refuseLoops()", () => {
  it("accepts the maximum number of hops, and rejects one more", async () => {
    const { handler, heard } = heardBy(8);
    await handler({ kind: "ping" }, startCall({ hops: 8 }));
    await expect(handler({ kind: "ping" }, startCall({ hops: 9 }))).rejects.toMatchObject({ code: "loop" });
    expect(heard).toHaveLength(1);
  });

  it("believes the larger of the two counts, so that stripping the header hides nothing", async () => {
    const { handler, heard } = heardBy(8);
    await expect(handler(send(withHops(HELLO, 9)), startCall())).rejects.toMatchObject({ code: "loop" });
    await handler(send(withHops(HELLO, 3)), startCall({ hops: 1 }));
    expect(heard[0]?.call.hops).toBe(3);
  });

  it("removes its own hop count, and nothing else", async () => {
    const { handler, heard } = heardBy(8);
    await handler(send({ ...withHops({ ...HELLO, extra: { theirs: 1 } }, 2) }), startCall());
    expect(heard[0]?.operation).toMatchObject({ envelope: { extra: { theirs: 1 } } });
    expect(JSON.stringify(heard[0]?.operation)).not.toContain(HOPS_KEY);
    await handler(send(withHops(HELLO, 2)), startCall());
    expect(heard[1]?.operation).toEqual(send({ ...HELLO, extra: undefined }));
  });

  it.each([["a text"], [-1], [1.5], [null]])("ignores a mark that is no count: %j", async (mark) => {
    const { handler, heard } = heardBy(0);
    await handler(send({ ...HELLO, extra: { [HOPS_KEY]: mark } }), startCall());
    expect(heard).toHaveLength(1);
  });
});
