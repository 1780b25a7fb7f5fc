import { expect, test } from "vitest";
import { type Artifact, type Part, type TaskEvent, textPart } from "../../envelope/index.js";
import { chunkOfText, textOfChunk } from "./text-chunks.js";

const chunk = (artifact: Partial<Artifact> = {}, event: object = {}): TaskEvent => ({
  kind: "artifact",
  taskId: "t",
  contextId: "c",
  artifact: { id: "result", parts: [textPart("word")], ...artifact },
  append: true,
  last: false,
  ...event,
});
const part = (members: object): Partial<Artifact> => ({ parts: [{ ...textPart("word"), ...members } as Part] });

test("a chunk of text is its text, and the same event again", () => {
  const text = textOfChunk(chunk(), "result");
  expect(text).toBe("word");
  expect(chunkOfText("word", { taskId: "t", contextId: "c", artifactId: "result" })).toEqual(chunk());
});

test("the artifact of the first chunk may be any", () => {
  expect(textOfChunk(chunk({ id: "other" }), undefined)).toBe("word");
  expect(textOfChunk(chunk({ id: "other" }), "result")).toBeUndefined();
});

test("an event that has anything else is kept whole", () => {
  const others: TaskEvent[] = [
    chunk({}, { append: false }),
    chunk({}, { last: true }),
    chunk({}, { metadata: { a: 1 } }),
    chunk({ name: "n" }),
    chunk({ description: "" }),
    chunk({ metadata: {} }),
    chunk({ extensions: [] }),
    chunk({ parts: [] }),
    chunk({ parts: [textPart("a"), textPart("b")] }),
    chunk({ parts: [{ kind: "data", data: "word" }] }),
    chunk(part({ mediaType: "text/markdown" })),
    chunk(part({ name: "x.txt" })),
    chunk(part({ metadata: {} })),
    { kind: "status", taskId: "t", contextId: "c", status: { state: "working", at: 1 } },
  ];
  expect(others.map((event) => textOfChunk(event, "result"))).toEqual(others.map(() => undefined));
});
