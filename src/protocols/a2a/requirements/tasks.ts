import { demand, demandArray, show, skip } from "../../check.js";
import { anyTask, call, finishedTask, resultOf, runningTask, sendParams, type WireRequirement } from "./probe.js";
import { demandError } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;

/** GetTask and CancelTask, and history length. */
export const taskRequirements: readonly WireRequirement[] = [
  {
    key: "get-task:same",
    capability: "round-trip",
    versions: BOTH,
    source: "A2A 1.0 §3.1.3",
    behaviour: "A task can be read by its id, in its last state.",
    async run(probe) {
      const task = await finishedTask(probe);
      const read = probe.wire.form.seeTask(resultOf(await call(probe, "GetTask", { id: task.id })));
      demand(read.id === task.id, `id is ${show(read.id)}`);
      demand(read.state === task.state, `it was ${task.state} and is ${read.state}`);
      demand(read.contextId === task.contextId, `contextId is ${show(read.contextId)}`);
    },
  },
  {
    key: "get-task:unknown",
    capability: "round-trip",
    versions: BOTH,
    source: "A2A 1.0 §3.1.3",
    behaviour: "A task that does not exist is TaskNotFound.",
    async run(probe) {
      const answer = await call(probe, "GetTask", { id: probe.subject.newId() });
      demandError(answer.error, ["TASK_NOT_FOUND"], answer.result);
    },
  },
  {
    key: "get-task:no-id",
    capability: "edge-cases",
    bindings: ["JSONRPC", "GRPC"],
    versions: BOTH,
    source: "A2A 1.0 §5.7",
    behaviour: "A request for a task without an id is rejected as invalid.",
    async run(probe) {
      const answer = await call(probe, "GetTask", {});
      demandError(answer.error, ["INVALID_PARAMS", "INVALID_REQUEST"], answer.result);
    },
  },
  {
    key: "get-task:artifacts",
    capability: "round-trip",
    versions: BOTH,
    needs: ["commands"],
    source: "A2A 1.0 §3.7",
    behaviour: "A finished task keeps its artifacts.",
    async run(probe) {
      const task = await finishedTask(probe);
      const read = probe.wire.form.seeTask(resultOf(await call(probe, "GetTask", { id: task.id })));
      demand(demandArray(read.artifacts, "artifacts").length > 0, "the artifacts are gone");
    },
  },
  {
    key: "get-task:long-id",
    capability: "edge-cases",
    source: "A2A 1.0 §3.3.2",
    behaviour: "An id of 4,000 characters is TaskNotFound or invalid, never a server error.",
    async run(probe) {
      const answer = await call(probe, "GetTask", { id: "x".repeat(4_000) });
      demandError(answer.error, ["TASK_NOT_FOUND", "INVALID_PARAMS"], answer.result);
    },
  },
  {
    key: "get-task:strange-id",
    capability: "security",
    source: "A2A 1.0 §3.1.3",
    behaviour: "An id of path and quote characters is TaskNotFound or invalid.",
    async run(probe) {
      for (const id of ["../../etc/passwd", "a/b", "x' OR '1'='1", "%2e%2e", "__proto__", "a b?c#d", "é中"]) {
        const answer = await call(probe, "GetTask", { id });
        demandError(answer.error, ["TASK_NOT_FOUND", "INVALID_PARAMS"], answer.result);
      }
    },
  },
  {
    key: "history:zero",
    capability: "round-trip",
    source: "A2A 1.0 §3.2.4",
    behaviour: "With historyLength 0 no history comes back.",
    async run(probe) {
      const { id } = await anyTask(probe);
      const { history } = probe.wire.form.seeTask(resultOf(await call(probe, "GetTask", { id, historyLength: 0 })));
      demand(history === undefined || (Array.isArray(history) && history.length === 0), `history is ${show(history)}`);
    },
  },
  {
    key: "history:zero-omitted",
    capability: "round-trip",
    level: "should",
    source: "A2A 1.0 §3.2.4",
    behaviour: "With historyLength 0 the history member is left out.",
    async run(probe) {
      const { id } = await anyTask(probe);
      const { raw } = probe.wire.form.seeTask(resultOf(await call(probe, "GetTask", { id, historyLength: 0 })));
      demand(!("history" in raw), "the history member is there");
    },
  },
  {
    key: "history:zero-on-send",
    capability: "round-trip",
    source: "A2A 1.0 §3.2.4",
    behaviour: "A send with historyLength 0 gives a task without history.",
    async run(probe) {
      const { history } = await anyTask(probe, { configuration: { historyLength: 0 } });
      demand(history === undefined || (Array.isArray(history) && history.length === 0), `history is ${show(history)}`);
    },
  },
  {
    key: "history:bounded",
    capability: "round-trip",
    versions: BOTH,
    source: "A2A 1.0 §3.2.4",
    behaviour: "With historyLength 1 at most one message of history comes back.",
    async run(probe) {
      const { id } = await anyTask(probe);
      const { history } = probe.wire.form.seeTask(resultOf(await call(probe, "GetTask", { id, historyLength: 1 })));
      demand(history === undefined || demandArray(history, "history").length <= 1, `history is ${show(history)}`);
    },
  },
  {
    key: "history:negative",
    capability: "edge-cases",
    source: "A2A 1.0 §3.3.2",
    behaviour: "A negative historyLength is rejected as invalid.",
    async run(probe) {
      const { id } = await anyTask(probe);
      const answer = await call(probe, "GetTask", { id, historyLength: -1 });
      demandError(answer.error, ["INVALID_PARAMS"], answer.result);
    },
  },
  {
    key: "cancel:unknown",
    capability: "long-running",
    versions: BOTH,
    source: "A2A 1.0 §3.1.5",
    behaviour: "Cancelling a task that does not exist is TaskNotFound.",
    async run(probe) {
      const answer = await call(probe, "CancelTask", { id: probe.subject.newId() });
      demandError(answer.error, ["TASK_NOT_FOUND"], answer.result);
    },
  },
  {
    key: "cancel:finished",
    capability: "long-running",
    versions: BOTH,
    source: "A2A 1.0 §3.1.5",
    behaviour: "Cancelling a finished task is TaskNotCancelable.",
    async run(probe) {
      const { id, state } = await finishedTask(probe);
      if (state === "canceled") return skip("the task was cancelled by the agent itself");
      const answer = await call(probe, "CancelTask", { id });
      demandError(answer.error, ["TASK_NOT_CANCELABLE"], answer.result);
    },
  },
  {
    key: "cancel:running",
    capability: "long-running",
    versions: BOTH,
    needs: ["commands"],
    source: "A2A 1.0 §3.1.5",
    behaviour: "Cancelling a running task returns the task, which ends as cancelled.",
    async run(probe) {
      const { id } = await runningTask(probe);
      const cancelled = probe.wire.form.seeTask(resultOf(await call(probe, "CancelTask", { id })));
      demand(cancelled.id === id, `cancel answered with task ${show(cancelled.id)}`);
      const read = probe.wire.form.seeTask(resultOf(await call(probe, "GetTask", { id })));
      demand(read.state === "canceled", `the task is ${read.state}`);
    },
  },
  {
    key: "cancel:twice",
    capability: "long-running",
    versions: BOTH,
    needs: ["commands"],
    source: "A2A 1.0 §3.3.1, §3.1.5",
    behaviour: "A second cancel returns the cancelled task or TaskNotCancelable.",
    async run(probe) {
      const { id } = await runningTask(probe);
      resultOf(await call(probe, "CancelTask", { id }));
      const again = await call(probe, "CancelTask", { id });
      if (again.error !== undefined) return void demandError(again.error, ["TASK_NOT_CANCELABLE"], again.result);
      demand(probe.wire.form.seeTask(again.result).state === "canceled", "the second cancel changed the state");
    },
  },
  {
    key: "cancel:input-required",
    capability: "long-running",
    versions: BOTH,
    needs: ["commands"],
    source: "A2A 1.0 §3.1.5",
    behaviour: "A task that waits for input can be cancelled.",
    async run(probe) {
      const { id } = await anyTask(probe, { text: "conform: ask" });
      const { state } = probe.wire.form.seeTask(resultOf(await call(probe, "CancelTask", { id })));
      demand(state === "canceled", `the task is ${state}`);
    },
  },
  {
    key: "cancel:then-send",
    capability: "long-running",
    needs: ["commands"],
    source: "A2A 1.0 §3.1.1",
    behaviour: "A message for a cancelled task is rejected with UnsupportedOperation.",
    async run(probe) {
      const { id } = await runningTask(probe);
      resultOf(await call(probe, "CancelTask", { id }));
      const answer = await call(probe, "SendMessage", sendParams(probe, { taskId: id }));
      demandError(answer.error, ["UNSUPPORTED_OPERATION"], answer.result);
    },
  },
];
