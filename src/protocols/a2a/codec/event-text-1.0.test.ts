import { expect, test } from "vitest";
import type { AgentEvent, Artifact, Envelope, Loss, Part, Status, Task } from "../../../envelope/index.js";
import { writeEventText } from "./event-text-1.0.js";
import { writeStreamItem } from "./result-1.0.js";

const text = (value: string): Part => ({ kind: "text", text: value });
const artifactEvent = (members: Partial<Artifact>, rest: object = {}): AgentEvent => ({
  kind: "artifact",
  taskId: "t-1",
  contextId: "c-1",
  artifact: { id: "result", parts: [text("hi")], ...members },
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
const message: Envelope = {
  id: "m",
  ts: 1,
  src: "",
  dst: "",
  intent: "",
  role: "agent",
  content: [text("why")],
  context: {},
  meta: {},
};
const artifact: Artifact = { id: "result", parts: [text("hi")] };
const taskEvent = (members: Partial<Task>): AgentEvent => ({
  kind: "task",
  task: { id: "t", contextId: "c", status: { state: "working", at: 0 }, artifacts: [], history: [], ...members },
});
const messageEvent = (members: Partial<Envelope>): AgentEvent => ({ kind: "message", message: { ...message, ...members } });

const EVENTS: readonly (readonly [string, AgentEvent])[] = [
  ["a text", artifactEvent({})],
  ["a chunk", artifactEvent({}, { append: true })],
  ["the last chunk", artifactEvent({}, { append: true, last: true })],
  ["a chunk of another artifact", artifactEvent({ id: "other" }, { append: true })],
  ["a chunk of another task", artifactEvent({ id: "other" }, { append: true, taskId: "t-2" })],
  ["the only chunk", artifactEvent({ parts: [text("")] }, { last: true })],
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
  ["a message", messageEvent({})],
  ["a message of the caller", messageEvent({ role: "user" })],
  ["a message of a session", messageEvent({ context: { sessionId: "c-1" } })],
  ["a message of a task", messageEvent({ context: { sessionId: "", taskId: 't"1' } })],
  ["a message that answers another", messageEvent({ context: { parentId: "m-0", traceId: "0af7651916cd43dd8448eb211c80319c" } })],
  ["a message with members of its own", messageEvent({ context: { priority: 1 } })],
  ["a message with an intent", messageEvent({ intent: "translate" })],
  ["a message with extra members", messageEvent({ extra: { a: { b: '"' } } })],
  ["a message with a time that is none", messageEvent({ ts: Number.NaN, extra: { a: 1 } })],
  ["a message with metadata", messageEvent({ metadata: { a: 1 } })],
  ["a message with extensions", messageEvent({ extensions: ["urn:x"] })],
  ["a message with no extensions", messageEvent({ extensions: [], references: [] })],
  ["a message with references", messageEvent({ references: ["t-0"] })],
  ["a message of data", messageEvent({ content: [{ kind: "data", data: null }] })],
  ["a task", taskEvent({})],
  ["a task without a context", taskEvent({ contextId: "" })],
  ["a task with artifacts", taskEvent({ artifacts: [artifact, { id: "b", parts: [text("x"), text("y")] }] })],
  ["a task with an artifact of data", taskEvent({ artifacts: [artifact, { id: "b", parts: [{ kind: "data", data: 1 }] }] })],
  ["a task with history", taskEvent({ artifacts: [artifact], history: [{ ...message, role: "user" }, message] })],
  ["a task with metadata in its history", taskEvent({ history: [{ ...message, metadata: { a: 1 } }] })],
  ["a task with a question", taskEvent({ status: { state: "input-required", at: 0, message } })],
  ["a failed task", taskEvent({ status: { state: "failed", at: 0, error: { code: "internal", message: "broke" } } })],
  ["a task in a state that A2A does not have", taskEvent({ status: { state: "canceling", at: 0 } })],
  ["a task in such a state, with metadata", taskEvent({ status: { state: "canceling", at: 0 }, metadata: { a: 1 } })],
];

test.each(EVENTS)("%s: the text and the losses of the object form", (_name, event) => {
  const [textLosses, objectLosses]: [Loss[], Loss[]] = [[], []];
  expect(writeEventText(event, (loss) => textLosses.push(loss))).toBe(
    JSON.stringify(writeStreamItem(event, (loss) => objectLosses.push(loss))),
  );
  expect(textLosses).toEqual(objectLosses);
});
