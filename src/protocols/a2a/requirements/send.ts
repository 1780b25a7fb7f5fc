import { isObject } from "../../../envelope/index.js";
import { demand, demandArray, demandString, show, skip } from "../../duty.js";
import { isOver, isWaiting } from "./forms.js";
import { anyTask, call, finishedTask, resultOf, runningTask, send, sendParams, type WireDuty } from "./probe.js";
import { JSON_BINDINGS } from "./wire.js";
import { demandError } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;
const STATES = /^TASK_STATE_(SUBMITTED|WORKING|COMPLETED|FAILED|CANCELED|INPUT_REQUIRED|REJECTED|AUTH_REQUIRED)$/;
/** A2A 1.0 §5.6.1: UTC with Z, fraction optional. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

/** SendMessage: shapes, identifiers, waiting. */
export const sendDuties: readonly WireDuty[] = [
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
      const seen = await send(probe, probe.card.commands ? { text: "conform: message" } : {});
      if (seen.kind !== "message") return skip("the agent answers with tasks");
      demandString(seen.raw["messageId"], "messageId");
      demand(["ROLE_AGENT", "agent"].includes(String(seen.raw["role"])), `role is ${show(seen.raw["role"])}`);
      demand(demandArray(probe.wire.form.partsOf(seen.raw), "parts").length > 0, "the message has no parts");
    },
  },
  {
    key: "send:message-context",
    capability: "round-trip",
    level: "should",
    source: "A2A 1.0 §3.4.1",
    behaviour: "A message from the agent says which context it belongs to.",
    async run(probe) {
      const seen = await send(probe, probe.card.commands ? { text: "conform: message" } : {});
      if (seen.kind !== "message") return skip("the agent answers with tasks");
      demandString(seen.raw["contextId"], "contextId");
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
    behaviour: "A send that does not ask to return at once waits until the task is finished or waits for the caller.",
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
    behaviour: "A send that asks to return at once gives the task while it runs.",
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
    behaviour: "A context id of the client's own making is kept, or the send is refused; never another one in silence.",
    async run(probe) {
      const contextId = probe.subject.newId();
      const answer = await call(probe, "SendMessage", sendParams(probe, { contextId }));
      if (answer.error !== undefined)
        return demandError(answer.error, ["INVALID_PARAMS", "UNSUPPORTED_OPERATION"], undefined) && undefined;
      const seen = probe.wire.form.see(answer.result);
      const got = seen.kind === "task" ? seen.task.contextId : seen.raw["contextId"];
      demand(got === contextId || (seen.kind === "message" && got === undefined), `sent context ${contextId}, got ${show(got)}`);
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
    behaviour: "A message for a task that does not exist is refused with TaskNotFound.",
    async run(probe) {
      const answer = await call(probe, "SendMessage", sendParams(probe, { taskId: probe.subject.newId() }));
      demandError(answer.error, ["TASK_NOT_FOUND"], answer.result);
    },
  },
  {
    key: "send:finished-task",
    capability: "long-running",
    source: "A2A 1.0 §3.1.1",
    behaviour: "A message for a finished task is refused with UnsupportedOperation.",
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
    behaviour: "A message that names a task and another context than the task's is refused.",
    async run(probe) {
      const task = await asked(probe);
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
    behaviour: "A task that asks a question goes on, under its own id, with the message that answers.",
    async run(probe) {
      const task = await asked(probe);
      const seen = await send(probe, { text: "forty-two", taskId: task.id });
      demand(seen.kind === "task", "the answer to a task's question gave a message");
      demand(seen.task.id === task.id, `the answer went to task ${show(seen.task.id)}`);
      demand(seen.task.contextId === task.contextId, `the context changed to ${show(seen.task.contextId)}`);
      demand(seen.task.state === "completed", `the task is ${seen.task.state}`);
    },
  },
  {
    key: "send:failed",
    capability: "long-running",
    versions: BOTH,
    needs: ["commands"],
    source: "A2A 1.0 §4.1.3",
    behaviour: "Work that fails gives a failed task, not an error of the call.",
    async run(probe) {
      const seen = await send(probe, { text: "conform: fail" });
      demand(seen.kind === "task" && seen.task.state === "failed", `got ${show(seen.raw)}`);
    },
  },
  {
    key: "send:rejected",
    capability: "long-running",
    versions: BOTH,
    needs: ["commands"],
    source: "A2A 1.0 §4.1.3",
    behaviour: "Work the agent will not do gives a rejected task.",
    async run(probe) {
      const seen = await send(probe, { text: "conform: reject" });
      demand(seen.kind === "task" && seen.task.state === "rejected", `got ${show(seen.raw)}`);
    },
  },
  {
    key: "send:text-kept",
    capability: "round-trip",
    versions: BOTH,
    needs: ["commands"],
    source: "A2A 1.0 §5.5, RFC 8259 §8.1",
    behaviour: "Text survives the way there and back, code point by code point.",
    async run(probe) {
      const text = 'conform: echo "quoted" \\ soirée 🎉 中文 \u2028 \u0000 \ud83d\ude00';
      const echoed = JSON.stringify(resultOf(await call(probe, "SendMessage", sendParams(probe, { text }))));
      demand(echoed.includes(JSON.stringify(text).slice(1, -1)), `came back as ${show(echoed)}`);
    },
  },
];

async function asked(probe: Parameters<WireDuty["run"]>[0]): ReturnType<typeof anyTask> {
  const task = await anyTask(probe, { text: "conform: ask" });
  demand(task.state === "input-required", `the task that asks is ${task.state}`);
  return task;
}
