import { expect, test } from "vitest";
import type { AgentEvent, Artifact, Loss, Part, Status } from "../../../envelope/index.js";
import { writeStreamItem } from "./result-1.0.js";
import { writeStreamText } from "./stream-text-1.0.js";

const text = (value: string): Part => ({ kind: "text", text: value });
const artifactEvent = (artifact: Partial<Artifact>, rest: object = {}): AgentEvent => ({
  kind: "artifact",
  taskId: "t-1",
  contextId: "c-1",
  artifact: { id: "result", parts: [text("hi")], ...artifact },
  append: false,
  last: false,
  ...rest,
});
const statusEvent = (status: Status, rest: object = {}): AgentEvent => ({
  kind: "status",
  taskId: "t-1",
  contextId: "",
  status,
  ...rest,
});
const message = {
  id: "m",
  ts: 1,
  src: "",
  dst: "",
  intent: "",
  role: "agent",
  content: [text("why")],
  context: {},
  meta: {},
} as const;

const EVENTS: readonly (readonly [string, AgentEvent])[] = [
  ["a text", artifactEvent({})],
  ["a chunk", artifactEvent({}, { append: true })],
  ["the last chunk", artifactEvent({}, { append: true, last: true })],
  ["several texts", artifactEvent({ parts: [text("a"), text(""), text("c")] })],
  ["no parts", artifactEvent({ parts: [] })],
  [
    "what JSON escapes",
    artifactEvent({ id: 'a"\\b', parts: [text('line\r\n"quoted"\\\u0000\u2028\ud800 é 😀')] }, { taskId: '"', contextId: "\n" }),
  ],
  ["an empty name", artifactEvent({ name: "", description: "" })],
  ["a name", artifactEvent({ name: "n" })],
  ["a description", artifactEvent({ description: "d" })],
  ["metadata of the artifact", artifactEvent({ metadata: { a: 1 } })],
  ["extensions", artifactEvent({ extensions: ["urn:x"] })],
  ["metadata of the event", artifactEvent({}, { metadata: { a: 1 } })],
  ["a media type", artifactEvent({ parts: [{ kind: "text", text: "x", mediaType: "text/markdown" }] })],
  ["a file name", artifactEvent({ parts: [{ kind: "text", text: "x", name: "x.txt" }] })],
  ["metadata of a part", artifactEvent({ parts: [{ kind: "text", text: "x", metadata: { a: 1 } }] })],
  ["other parts", artifactEvent({ parts: [text("x"), { kind: "data", data: { n: 1 } }, { kind: "url", url: "https://x" }] })],
  ["a state", statusEvent({ state: "working", at: 1_730_000_000_123 })],
  ["a state that A2A does not have", statusEvent({ state: "canceling", at: 0 })],
  ["a state with a message", statusEvent({ state: "working", at: 0, message })],
  ["a failure", statusEvent({ state: "failed", at: 0, error: { code: "internal", message: "broke" } })],
  ["metadata of a state", statusEvent({ state: "completed", at: 0 }, { metadata: { a: 1 } })],
  ["a message", { kind: "message", message }],
];

test.each(EVENTS)("%s: the text and the losses of the object form", (_name, event) => {
  const [textLosses, objectLosses]: [Loss[], Loss[]] = [[], []];
  expect(writeStreamText(event, (loss) => textLosses.push(loss))).toBe(
    JSON.stringify(writeStreamItem(event, (loss) => objectLosses.push(loss))),
  );
  expect(textLosses).toEqual(objectLosses);
});
