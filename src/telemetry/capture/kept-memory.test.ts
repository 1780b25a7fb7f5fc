import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { type Envelope, textPart } from "../../envelope/index.js";
import { preview } from "./captured-answer.js";
import { captureDocument } from "./document.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const MIB = 1024 * 1024;
const MESSAGES = 40;
const MESSAGE_BYTES = 4 * MIB;
const LIMIT = 64 * 1024;

/** As from a decoder: one flat text that nothing else refers to. */
const received = (index: number): string => Buffer.alloc(MESSAGE_BYTES, String(index % 10)).toString();

function heldBy(keep: (text: string) => unknown): number {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: MESSAGES }, (_, index) => keep(received(index)));
  collectGarbage();
  const held = process.memoryUsage().heapUsed - before;
  expect(kept).toHaveLength(MESSAGES);
  return held;
}

const envelopeOf = (text: string): Envelope => ({
  id: "m",
  ts: 0,
  src: "a",
  dst: "b",
  intent: "",
  role: "user",
  content: [textPart(text)],
  context: {},
  meta: {},
});

// All texts together are 160 MiB: what is kept of them must not keep them.
describe("what is captured of large messages", () => {
  it("does not keep their text for a preview", () => {
    expect(heldBy(preview)).toBeLessThan(MESSAGE_BYTES);
  });

  it("does not keep their text for a truncated document", () => {
    expect(heldBy((text) => captureDocument(envelopeOf(text), LIMIT))).toBeLessThan(MESSAGES * LIMIT + MESSAGE_BYTES);
  });
});
