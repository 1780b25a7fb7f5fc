import { expect, test } from "vitest";
import { type Artifact, type Part, type TaskEvent, textPart } from "../../envelope/index.js";
import { packEvent, unpackEvent } from "./packed-events.js";

const IDS = { taskId: "t", contextId: "c", artifactId: "result" };
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
const working: TaskEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "working", at: 1 } };

test("a chunk in the middle of the artifact is its text", () => {
  expect(packEvent(chunk(), IDS)).toBe("word");
  expect(packEvent(chunk({ parts: [textPart("")] }), IDS)).toBe("");
});

test.each<[string, TaskEvent]>([
  ["a chunk", chunk()],
  ["the first chunk", chunk({}, { append: false })],
  ["the last chunk", chunk({}, { last: true })],
  ["the only chunk", chunk({}, { append: false, last: true })],
  ["a status", working],
  ["a failure", { ...working, status: { state: "failed", at: 2, error: { code: "internal", message: "broke" } } }],
])("%s is packed, and the same event again", (_, event) => {
  const packed = packEvent(event, IDS);
  expect(packed).not.toBe(event);
  expect(unpackEvent(packed, IDS)).toEqual(event);
});

test.each<[string, TaskEvent]>([
  ["another artifact", chunk({ id: "other" })],
  ["another task", chunk({}, { taskId: "u" })],
  ["another session", chunk({}, { contextId: "d" })],
  ["metadata of the event", chunk({}, { metadata: { a: 1 } })],
  ["metadata of a status", { ...working, metadata: { a: 1 } }],
  ["a name", chunk({ name: "n" })],
  ["a description", chunk({ description: "" })],
  ["metadata", chunk({ metadata: {} })],
  ["extensions", chunk({ extensions: [] })],
  ["no parts", chunk({ parts: [] })],
  ["two parts", chunk({ parts: [textPart("a"), textPart("b")] })],
  ["data", chunk({ parts: [{ kind: "data", data: "word" }] })],
  ["a media type", chunk(part({ mediaType: "text/markdown" }))],
  ["a file name", chunk(part({ name: "x.txt" }))],
  ["metadata of a part", chunk(part({ metadata: {} }))],
])("%s is kept whole", (_, event) => {
  expect(packEvent(event, IDS)).toBe(event);
  expect(unpackEvent(event, IDS)).toBe(event);
});
