import {
  AgentError,
  type AgentEvent,
  type Json,
  type JsonObject,
  type LossSink,
  type Operation,
  type OperationOf,
  type PushConfig,
} from "../../../envelope/index.js";
import { DecodeProblem, optional, readArray, readInteger, readObject, readString } from "../../../transport/fields.js";
import { readCardDocument, writeCard } from "../card/card-1.0.js";
import type { DecodeFacts } from "../dialect.js";
import { plain } from "../wire.js";
import type { Form } from "./form.js";
import { FORM_1_0 } from "./form-1.0.js";
import { readMessage, writeReturned } from "./message.js";
import { readPush, writePush } from "./push-1.0.js";
import { readArtifactEvent, readStatusEvent, readTask, writeArtifactEvent, writeStatusEvent, writeTask } from "./task.js";

const EMPTY: JsonObject = Object.freeze({});

export function writeResult(operation: Operation, event: AgentEvent, reportLoss: LossSink): Json {
  switch (event.kind) {
    case "message":
      return writeStreamItem(event, reportLoss);
    case "status":
    case "artifact":
      throw notUnary(event);
    case "task":
      // Send has a wrapper, because it may also return a message; the others return the task.
      return operation.kind === "send"
        ? writeStreamItem(event, reportLoss)
        : writeTask(FORM_1_0, event.task, undefined, reportLoss);
    case "tasks":
      return writeTasks(FORM_1_0, event, operation.kind === "task.list" && operation.artifacts === true, reportLoss);
    case "push":
      return writePush(event.config, undefined);
    case "pushes":
      return {
        configs: event.configs.map((config) => writePush(config, undefined)),
        nextPageToken: event.nextPageToken === "" ? undefined : event.nextPageToken,
      };
    case "card":
      return writeCard(event.card);
    case "done":
      return EMPTY;
    default:
      return event satisfies never;
  }
}

/** ListTasksResponse: all four members always; `artifacts` on every task or on none (A2A 1.0 §3.1.4). */
export function writeTasks(
  form: Form,
  event: Extract<AgentEvent, { kind: "tasks" }>,
  artifacts: boolean,
  reportLoss: LossSink,
): JsonObject {
  return {
    tasks: event.tasks.map((task) => writeTask(form, task, artifacts, reportLoss)),
    nextPageToken: event.nextPageToken,
    pageSize: event.pageSize,
    totalSize: event.totalSize,
  };
}

export function writeStreamItem(event: AgentEvent, reportLoss: LossSink): JsonObject {
  return writeWrapped(FORM_1_0, event, reportLoss);
}

/** SendMessageResponse and StreamResponse: the member name is the discriminator. */
export function writeWrapped(form: Form, event: AgentEvent, reportLoss: LossSink): JsonObject {
  switch (event.kind) {
    case "message":
      return { message: writeReturned(form, event.message, "message", reportLoss) };
    case "task":
      return { task: writeTask(form, event.task, undefined, reportLoss) };
    case "status":
      return { statusUpdate: writeStatusEvent(form, event, reportLoss) };
    case "artifact":
      return { artifactUpdate: writeArtifactEvent(form, event, reportLoss) };
    default:
      throw new AgentError("encode", `an A2A stream has no event of kind ${event.kind}`);
  }
}

export function readResult(operation: Operation, result: unknown, facts: DecodeFacts): AgentEvent {
  switch (operation.kind) {
    case "send":
      return onlyAnswer(readWrapped(FORM_1_0, result, facts));
    case "task.get":
    case "task.cancel":
    case "task.subscribe":
      return { kind: "task", task: readTask(FORM_1_0, result, "result", facts) };
    case "task.list":
      return readTasks(FORM_1_0, operation, result, facts);
    case "push.set":
      return { kind: "push", config: readPush(result, "result", operation.config.taskId) };
    case "push.get":
      return { kind: "push", config: readPush(result, "result", operation.taskId) };
    case "push.list":
      return readPushes(result, (item, path) => readPush(item, path, operation.taskId));
    case "card":
      return { kind: "card", card: readCardDocument(result) };
    case "push.delete":
    case "session.close":
    case "ping":
      // `{}` in ProtoJSON; null or absent in deployed servers.
      return { kind: "done" };
    default:
      return operation satisfies never;
  }
}

/** A page of push configurations, each in the form of its version. */
export function readPushes(result: unknown, read: (item: unknown, path: string) => PushConfig): AgentEvent {
  const object = readObject(result, "result");
  return {
    kind: "pushes",
    configs: optional(object.configs, "result.configs", (value, path) => readArray(value, path, read)) ?? [],
    nextPageToken: plain(object.nextPageToken ?? object.next_page_token, "result.nextPageToken") ?? "",
  };
}

export function readTasks(form: Form, operation: OperationOf<"task.list">, result: unknown, facts: DecodeFacts): AgentEvent {
  const object = readObject(result, "result");
  const tasks = optional(object.tasks, "result.tasks", (value, path) =>
    readArray(value, path, (item, at) => readTask(form, item, at, facts)),
  );
  const count = tasks?.length ?? 0;
  return {
    kind: "tasks",
    tasks: tasks ?? [],
    nextPageToken: optional(object.nextPageToken ?? object.next_page_token, "result.nextPageToken", readString) ?? "",
    pageSize: optional(object.pageSize ?? object.page_size, "result.pageSize", readInteger) ?? operation.pageSize ?? count,
    totalSize: optional(object.totalSize ?? object.total_size, "result.totalSize", readInteger) ?? count,
  };
}

const WRAPPED = ["task", "message", "statusUpdate", "artifactUpdate"] as const;

/** Exactly one member. Early 0.3 named the message `msg`. */
export function readWrapped(form: Form, value: unknown, facts: DecodeFacts): AgentEvent {
  const object = readObject(value, "result");
  const { task } = object;
  const message = object.message ?? (form.final ? object.msg : undefined);
  const status = object.statusUpdate ?? object.status_update;
  const artifact = object.artifactUpdate ?? object.artifact_update;
  const present = (task == null ? 0 : 1) + (message == null ? 0 : 1) + (status == null ? 0 : 1) + (artifact == null ? 0 : 1);
  if (present !== 1)
    throw new DecodeProblem(
      "result",
      `must have exactly one of ${WRAPPED.join(", ")}, but has ${present === 0 ? "none" : `${present}`}`,
    );
  if (message != null) return { kind: "message", message: readMessage(form, message, "result.message", facts) };
  if (task != null) return { kind: "task", task: readTask(form, task, "result.task", facts) };
  if (status != null) return readStatusEvent(form, status, "result.statusUpdate", facts);
  return readArtifactEvent(form, artifact, "result.artifactUpdate", facts);
}

/** A send that is not streamed is answered with a task or a message. */
export function onlyAnswer(event: AgentEvent): AgentEvent {
  if (event.kind === "task" || event.kind === "message") return event;
  throw new DecodeProblem("result", "must be a task or a message, not an update");
}

export function notUnary(event: AgentEvent): AgentError {
  return new AgentError("encode", `expected a single result; an event of kind ${event.kind} belongs in a stream`);
}
