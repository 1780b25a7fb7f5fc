import {
  AgentError,
  type AgentEvent,
  type Json,
  type JsonObject,
  type LossSink,
  type Operation,
} from "../../../envelope/index.js";
import { DecodeProblem, readArray, readObject } from "../../../transport/fields.js";
import { writeKindCard } from "../card/card-0.3.js";
import { readCardDocument } from "../card/card-1.0.js";
import type { DecodeFacts } from "../dialect.js";
import { shown } from "../wire.js";
import { FORM_0_3 as FORM } from "./form-0.3.js";
import { readMessage, writeReturned } from "./message.js";
import { readKindTaskPush, writeKindTaskPush } from "./push-0.3.js";
import { notUnary, onlyAnswer } from "./result-1.0.js";
import { readArtifactEvent, readStatusEvent, readTask, writeArtifactEvent, writeStatusEvent, writeTask } from "./task.js";

/** JSON-RPC results of 0.3: bare objects with `kind`, a bare array of configs, null after a delete. */
export function writeKindResult(_operation: Operation, event: AgentEvent, reportLoss: LossSink): Json {
  switch (event.kind) {
    case "message":
    case "task":
      return writeKindItem(event, reportLoss);
    case "status":
    case "artifact":
      throw notUnary(event);
    case "tasks":
      throw new AgentError("encode", "0.3 lists no tasks over JSON-RPC");
    case "push":
      return writeKindTaskPush(event.config);
    case "pushes":
      if (event.nextPageToken !== "")
        reportLoss({
          protocol: "a2a",
          path: "pushes.nextPageToken",
          valueKind: "string",
          reason: "0.3 lists all push configs at once",
        });
      return event.configs.map(writeKindTaskPush);
    case "card":
      return writeKindCard(event.card);
    case "done":
      return null;
    default:
      return event satisfies never;
  }
}

export function writeKindItem(event: AgentEvent, reportLoss: LossSink): JsonObject {
  switch (event.kind) {
    case "message":
      return writeReturned(FORM, event.message, "message", reportLoss);
    case "task":
      return writeTask(FORM, event.task, undefined, reportLoss);
    case "status":
      return writeStatusEvent(FORM, event, reportLoss);
    case "artifact":
      return writeArtifactEvent(FORM, event, reportLoss);
    default:
      throw new AgentError("encode", `an A2A stream has no event of kind ${event.kind}`);
  }
}

export function readKindResult(operation: Operation, result: unknown, facts: DecodeFacts): AgentEvent {
  switch (operation.kind) {
    case "send":
      return onlyAnswer(readKindItem(result, facts));
    case "task.get":
    case "task.cancel":
    case "task.subscribe":
      return { kind: "task", task: readTask(FORM, result, "result", facts) };
    case "push.set":
    case "push.get":
      return { kind: "push", config: readKindTaskPush(result, "result", facts.reportLoss) };
    case "push.list": {
      const configs = readArray(result ?? [], "result", (item, path) => readKindTaskPush(item, path, facts.reportLoss));
      return { kind: "pushes", configs, nextPageToken: "" };
    }
    case "card":
      return { kind: "card", card: readCardDocument(result) };
    case "task.list":
      throw new DecodeProblem("result", "is the result of an operation that 0.3 does not have");
    case "push.delete":
    case "session.close":
    case "ping":
      return { kind: "done" };
    default:
      return operation satisfies never;
  }
}

export function readKindItem(value: unknown, facts: DecodeFacts): AgentEvent {
  const { kind } = readObject(value, "result");
  switch (kind) {
    case "message":
      return { kind: "message", message: readMessage(FORM, value, "result", facts) };
    case "task":
      return { kind: "task", task: readTask(FORM, value, "result", facts) };
    case "status-update":
      return readStatusEvent(FORM, value, "result", facts);
    case "artifact-update":
      return readArtifactEvent(FORM, value, "result", facts);
    default:
      throw new DecodeProblem("result.kind", `must be message, task, status-update or artifact-update, not ${shown(kind)}`);
  }
}
