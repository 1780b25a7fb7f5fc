import { describe, expect, it } from "vitest";
import type { OperationOf } from "../../envelope/index.js";
import { sendCodec } from "./send-codec.js";

const send: OperationOf<"send"> = {
  kind: "send",
  delivery: "accepted",
  task: "always",
  envelope: {
    id: "m-1",
    ts: 1_767_323_045.678,
    src: "caller",
    dst: "agent",
    intent: "book",
    role: "user",
    content: [{ kind: "raw", bytes: new Uint8Array([0, 255]), name: "b" }],
    context: { sessionId: "s", taskId: "t", idempotencyKey: "k", tags: ["x"] },
    meta: {},
    metadata: { own: 1 },
  },
};

describe("sendCodec", () => {
  it("round-trips", () => {
    expect(sendCodec.read(sendCodec.write(send))).toEqual(send);
  });

  it("encodes like the library's sender, with additional members", () => {
    const { metadata: _ours, ...rest } = JSON.parse(
      sendCodec.write({ ...send, envelope: { ...send.envelope, content: [{ kind: "text", text: "hi" }] } }),
    );
    expect(rest).toEqual({ protocolHash: null, protocolSources: [], body: "hi", multiround: true });
  });

  it.each([
    ["{", "decode"],
    ["[]", "invalid_message"],
    ['{"body":7}', "invalid_message"],
  ])("rejects %s", (text, code) => {
    expect(() => sendCodec.read(text)).toThrow(expect.objectContaining({ code }));
  });
});
