import { isObject } from "../../../envelope/index.js";
import { demand, demandArray, demandString, show, skip } from "../../check.js";
import { isOver, isWaiting } from "./forms.js";
import { anyTask, call, finishedTask, resultOf, runningTask, send, sendParams, type WireRequirement } from "./probe.js";
import { JSON_BINDINGS } from "./wire.js";
import { demandError } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;
const STATES = /^TASK_STATE_(SUBMITTED|WORKING|COMPLETED|FAILED|CANCELED|INPUT_REQUIRED|REJECTED|AUTH_REQUIRED)$/;
/** A2A 1.0 §5.6.1: UTC with Z, fraction optional. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

/** SendMessage: shapes, identifiers, waiting. */
export const sendRequirements: readonly WireRequirement[] = [
  {
    key: "send:shape",
    capability: "round-trip",
    versions: BOTH,
    source: "A2A 1.0 §3.1.1",
    behaviour: "A send gives exactly one of a task and a message.",
    async run(probe) {
      const { kind } = await send(probe);
      demand(kind === "task" || kind === "message", `a send gave a ${kind} event`);
    },
  },
  {
    key: "send:message-members",
    capability: "round-trip",
    versions: BOTH,
    source: "A2A 1.0 §4.1.4",
    behaviour: "A message from the agent has an id, the agent's role and at least one part.",
    async run(probe) {
      const observed = await send(probe, probe.card.commands ? { text: "conform: message" } : {});
      if (observed.kind !== "message") return skip("the agent answers with tasks");
      demandString(observed.raw["messageId"], "messageId");
      demand(["ROLE_AGENT", "agent"].includes(String(observed.raw["role"])), `role is ${show(observed.raw["role"])}`);
      demand(demandArray(probe.wire.form.partsOf(observed.raw), "parts").length > 0, "the message has no parts");
    },
  },
  {
    key: "send:message-context",
    capability: "round-trip",
    level: "should",
    source: "A2A 1.0 §3.4.1",
    behaviour: "A message from the agent says which context it belongs to.",
    async run(probe) {
      const observed = await send(probe, probe.card.commands ? { text: "conform: message" } : {});
      if (observed.kind !== "message") return skip("the agent answers with tasks");
      demandString(observed.raw["contextId"], "contextId");
    },
  },
  {
    key: "send:task-members",
    capability: "round-trip",
    versions: BOTH,
    source: "A2A 1.0 §4.1.1, §3.4.1",
    behaviour: "A task has an id, a state and the id of its context.",
    async run(probe) {
      const task = await anyTask(probe);
      demandString(task.wireState, "status.state");
      demandString(task.contextId, "contextId");
    },
  },
  {
    key: "send:state-name",
    capability: "round-trip",
    bindings: JSON_BINDINGS,
    source: "A2A 1.0 §5.5",
    behaviour: "States are written as the full upper-case name.",
    async run(probe) {
      const { wireState } = await anyTask(probe);
      demand(STATES.test(String(wireState)), `status.state is ${show(wireState)}`);
    },
  },
  {
    key: "send:timestamp",
    capability: "round-trip",
    bindings: JSON_BINDINGS,
    source: "A2A 1.0 §5.6.1",
    behaviour: "Timestamps are ISO 8601 in UTC with a Z.",
    async run(probe) {
      const { timestamp } = await anyTask(probe);
      if (timestamp === undefined) return skip("the status has no timestamp");
      demand(TIMESTAMP.test(String(timestamp)), `status.timestamp is ${show(timestamp)}`);
    },
  },
  {
    key: "send:artifact-members",
    capability: "round-trip",
    versions: BOTH,
    source: "A2A 1.0 §4.1.7",
    behaviour: "Every artifact has an id and at least one part.",
    async run(probe) {
      const { artifacts } = await finishedTask(probe);
      if (!Array.isArray(artifacts) || artifacts.length === 0) return skip("the task has no artifacts");
      for (const artifact of artifacts.filter(isObject)) {
        demandString(artifact["artifactId"], "artifactId");
        demand(demandArray(artifact["parts"], "parts").length > 0, "an artifact has no parts");
      }
    },
  },
  {
    key: "send:waits",
    capability: "long-running",
    versions: BOTH,
    source: "A2A 1.0 §3.2.2",
    behaviour: "A blocking send waits until the task ends or waits for the caller.",
    async run(probe) {
      const { state } = await anyTask(probe);
      demand(isOver(state) || isWaiting(state), `the task came back ${state}`);
    },
  },
  {
    key: "send:returns-at-once",
    capability: "long-running",
    versions: BOTH,
    needs: ["commands"],
    source: "A2A 1.0 §3.2.2",
    behaviour: "A non-blocking send returns the running task.",
    async run(probe) {
      const task = await runningTask(probe);
      await call(probe, "CancelTask", { id: task.id });
    },
  },
  {
    key: "send:context-kept",
    capability: "round-trip",
    versions: BOTH,
    source: "A2A 1.0 §3.4.1",
    behaviour: "A context id chosen by the client is kept, or the send is rejected; it is never replaced silently.",
    async run(probe) {
      const contextId = probe.subject.newId();
      const answer = await call(probe, "SendMessage", sendParams(probe, { contextId }));
      if (answer.error !== undefined)
        return demandError(answer.error, ["INVALID_PARAMS", "UNSUPPORTED_OPERATION"], undefined) && undefined;
      const observed = probe.wire.form.see(answer.result);
      const got = observed.kind === "task" ? observed.task.contextId : observed.raw["contextId"];
      demand(
        got === contextId || (observed.kind === "message" && got === undefined),
        `sent context ${contextId}, got ${show(got)}`,
      );
    },
  },
  {
    key: "send:same-context",
    capability: "round-trip",
    versions: BOTH,
    source: "A2A 1.0 §3.4.1",
    behaviour: "A send in the context of an earlier task makes another task in the same context.",
    async run(probe) {
      const first = await finishedTask(probe);
      const second = await anyTask(probe, { contextId: String(first.contextId) });
      demand(second.contextId === first.contextId, `the second task is in ${show(second.contextId)}`);
      demand(second.id !== first.id, "the second send gave the finished task again");
    },
  },
  {
    key: "send:ids-differ",
    capability: "round-trip",
    versions: BOTH,
    source: "A2A 1.0 §3.4.2",
    behaviour: "Two sends make two tasks with different ids.",
    async run(probe) {
      const [one, two] = [await anyTask(probe), await anyTask(probe)];
      demand(one.id !== two.id, `both tasks are ${one.id}`);
    },
  },
  {
    key: "send:unknown-task",
    capability: "round-trip",
    versions: BOTH,
    source: "A2A 1.0 §3.1.1",
    behaviour: "A message for a task that does not exist is rejected with TaskNotFound.",
    async run(probe) {
      const answer = await call(probe, "SendMessage", sendParams(probe, { taskId: probe.subject.newId() }));
      demandError(answer.error, ["TASK_NOT_FOUND"], answer.result);
    },
  },
  {
    key: "send:finished-task",
    capability: "long-running",
    source: "A2A 1.0 §3.1.1",
    behaviour: "A message for a finished task is rejected with UnsupportedOperation.",
    async run(probe) {
      const task = await finishedTask(probe);
      const answer = await call(probe, "SendMessage", sendParams(probe, { taskId: task.id, contextId: String(task.contextId) }));
      demandError(answer.error, ["UNSUPPORTED_OPERATION"], answer.result);
    },
  },
  {
    key: "send:context-mismatch",
    capability: "long-running",
    needs: ["commands"],
    source: "A2A 1.0 §3.4.3",
    behaviour: "A message that names a task and another context is rejected.",
    async run(probe) {
      const task = await awaitingTask(probe);
      const params = sendParams(probe, { text: "conform: answer", taskId: task.id, contextId: probe.subject.newId() });
      const answer = await call(probe, "SendMessage", params);
      await call(probe, "CancelTask", { id: task.id });
      demandError(answer.error, ["INVALID_PARAMS", "INVALID_REQUEST", "TASK_NOT_FOUND"], answer.result);
    },
  },
  {
    key: "send:input-required",
    capability: "long-running",
    versions: BOTH,
    needs: ["commands"],
    source: "A2A 1.0 §3.4.3",
    behaviour: "A task with a question continues, under its own id, with the message that answers it.",
    async run(probe) {
      const task = await awaitingTask(probe);
      const observed = await send(probe, { text: "forty-two", taskId: task.id });
      demand(observed.kind === "task", "the answer to a task's question gave a message");
      demand(observed.task.id === task.id, `the answer went to task ${show(observed.task.id)}`);
      demand(observed.task.contextId === task.contextId, `the context changed to ${show(observed.task.contextId)}`);
      demand(observed.task.state === "completed", `the task is ${observed.task.state}`);
    },
  },
  {
    key: "send:failed",
    capability: "long-running",
    versions: BOTH,
    needs: ["commands"],
    source: "A2A 1.0 §4.1.3",
    behaviour: "A failure of the agent is a failed task, not an error of the call.",
    async run(probe) {
      const observed = await send(probe, { text: "conform: fail" });
      demand(observed.kind === "task" && observed.task.state === "failed", `got ${show(observed.raw)}`);
    },
  },
  {
    key: "send:rejected",
    capability: "long-running",
    versions: BOTH,
    needs: ["commands"],
    source: "A2A 1.0 §4.1.3",
    behaviour: "A rejection by the agent is a rejected task.",
    async run(probe) {
      const observed = await send(probe, { text: "conform: reject" });
      demand(observed.kind === "task" && observed.task.state === "rejected", `got ${show(observed.raw)}`);
    },
  },
  {
    key: "send:text-kept",
    capability: "round-trip",
    versions: BOTH,
    needs: ["commands"],
    source: "A2A 1.0 §5.5, RFC 8259 §8.1",
    behaviour: "Text is returned unchanged, code point by code point.",
    async run(probe) {
      const text = 'conform: echo "quoted" \\ soirée 🎉 中文 \u2028 \u0000 \ud83d\ude00';
      const echoed = JSON.stringify(resultOf(await call(probe, "SendMessage", sendParams(probe, { text }))));
      demand(echoed.includes(JSON.stringify(text).slice(1, -1)), `came back as ${show(echoed)}`);
    },
  },
];

async function awaitingTask(probe: Parameters<WireRequirement["run"]>[0]): ReturnType<typeof anyTask> {
  const task = await anyTask(probe, { text: "conform: ask" });
  demand(task.state === "input-required", `the task with a question is ${task.state}`);
  return task;
}
