import { describe, expect, it } from "vitest";
import type { Envelope, TaskEvent } from "../../envelope/index.js";
import { NO_META, textPart } from "../../envelope/index.js";
import { entryFrom, eventFrom, messageFrom, storedEntry, storedText, taskFrom } from "./stored-form.js";

const BYTES = Uint8Array.from([0, 1, 127, 128, 255]);
const message: Envelope = {
  id: "m",
  ts: 1.5,
  src: "s",
  dst: "d",
  intent: "chat",
  role: "user",
  content: [textPart("ü"), { kind: "raw", bytes: BYTES, mediaType: "image/png" }, { kind: "data", data: { $base64: "AAE=" } }],
  context: { idempotencyKey: "k" },
  meta: NO_META,
  proofs: [{ scheme: "jws", signer: "ann", keyId: "1", signed: BYTES, signature: Buffer.from([9, 8]) }],
};
const task = {
  id: "t",
  contextId: "c",
  status: { state: "working", at: 5, message } as const,
  artifacts: [{ id: "a", parts: [{ kind: "raw", bytes: Buffer.from(BYTES) } as const] }],
  history: [message],
};

/** `toEqual` makes a difference between a Buffer and a Uint8Array, and none between absent and undefined. */
const plain = <T>(value: T): T =>
  JSON.parse(
    JSON.stringify(value, function (this: Record<string, unknown>, key, written) {
      const own = this[key];
      return own instanceof Uint8Array ? { bytes: [...own] } : written;
    }),
  );

describe("stored form", () => {
  it("round-trips a message with bytes, proofs and an agent's data of the same name", () => {
    const back = messageFrom(storedText(message));
    expect(plain(back)).toEqual(plain(message));
    expect(back.content[1]).toMatchObject({ kind: "raw", bytes: BYTES });
    expect(back.content[2]).toMatchObject({ data: { $base64: "AAE=" } });
  });

  it("round-trips a task", () => {
    expect(plain(taskFrom(storedText(task)))).toEqual(plain(task));
  });

  it.each<TaskEvent>([
    { kind: "task", task },
    { kind: "status", taskId: "t", contextId: "c", status: { state: "completed", at: 9, message } },
    {
      kind: "artifact",
      taskId: "t",
      contextId: "c",
      artifact: task.artifacts[0] ?? { id: "", parts: [] },
      append: true,
      last: false,
    },
    {
      kind: "artifact",
      taskId: "t",
      contextId: "c",
      artifact: { id: "b", parts: [textPart("plain")] },
      append: false,
      last: true,
    },
  ])("round-trips a $kind event, and as an entry without the ids", (event) => {
    expect(plain(eventFrom(storedText(event)))).toEqual(plain(event));
    const entry = storedEntry(event);
    expect(entry).not.toMatch(/"(taskId|contextId)"/);
    expect(plain(entryFrom(entry, { taskId: "t", contextId: "c" }))).toEqual(plain(event));
    // As an earlier version wrote it.
    expect(plain(entryFrom(storedText(event), { taskId: "t", contextId: "c" }))).toEqual(plain(event));
  });
});
