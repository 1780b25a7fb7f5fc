import type { AgentEvent, Json, LossSink, Operation } from "../../../envelope/index.js";
import { writeProtoCard } from "../card/card-0.3.js";
import { readCardDocument } from "../card/card-1.0.js";
import type { DecodeFacts } from "../dialect.js";
import type { Form } from "./form.js";
import { readProtoTaskPush, writeProtoTaskPush } from "./push-0.3.js";
import { notUnary, onlyAnswer, readPushes, readTasks, readWrapped, writeTasks, writeWrapped } from "./result-1.0.js";
import { readTask, writeTask } from "./task.js";

/** REST results of 0.3: the wrappers of 1.0 around ProtoJSON of the older protobuf. */
export function writeProtoResult(form: Form, operation: Operation, event: AgentEvent, reportLoss: LossSink): Json {
  switch (event.kind) {
    case "message":
      return writeWrapped(form, event, reportLoss);
    case "status":
    case "artifact":
      throw notUnary(event);
    case "task":
      return operation.kind === "send"
        ? writeWrapped(form, event, reportLoss)
        : writeTask(form, event.task, undefined, reportLoss);
    case "tasks":
      return writeTasks(form, event, operation.kind === "task.list" && operation.artifacts === true, reportLoss);
    case "push":
      return writeProtoTaskPush(event.config);
    case "pushes":
      return { configs: event.configs.map(writeProtoTaskPush), nextPageToken: event.nextPageToken };
    case "card":
      return writeProtoCard(event.card);
    case "done":
      return {};
    default:
      return event satisfies never;
  }
}

export function readProtoResult(form: Form, operation: Operation, result: unknown, facts: DecodeFacts): AgentEvent {
  switch (operation.kind) {
    case "send":
      return onlyAnswer(readWrapped(form, result, facts));
    case "task.get":
    case "task.cancel":
    case "task.subscribe":
      return { kind: "task", task: readTask(form, result, "result", facts) };
    case "task.list":
      return readTasks(form, operation, result, facts);
    case "push.set":
    case "push.get":
      return { kind: "push", config: readProtoTaskPush(result, "result", facts.reportLoss) };
    case "push.list":
      return readPushes(result, (item, path) => readProtoTaskPush(item, path, facts.reportLoss));
    case "card":
      return { kind: "card", card: readCardDocument(result) };
    case "push.delete":
    case "session.close":
    case "ping":
      return { kind: "done" };
    default:
      return operation satisfies never;
  }
}
