import { isObject } from "../../../envelope/index.js";
import { open } from "../../ask.js";
import { demand, demandString, show, skip } from "../../check.js";
import { readFrames } from "../../frames.js";
import { isOver, isWaiting, type Observed } from "./forms.js";
import {
  call,
  collect,
  type Probe,
  requestFor,
  resultOf,
  sendParams,
  stateOf,
  stream,
  taskIdOf,
  type WireRequirement,
} from "./probe.js";
import { JSON_BINDINGS } from "./wire.js";
import { demandError } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;
const SOURCE = "A2A 1.0 §3.1.2";

/** The events of one streamed send, by command if the agent understands them. */
async function streamed(probe: Probe): Promise<readonly Observed[]> {
  const text = probe.card.commands ? "conform: stream 3" : "hello";
  return collect(await stream(probe, "SendStreamingMessage", sendParams(probe, { text })));
}

/** The same, skipped if a message is the whole answer. */
async function streamedTask(probe: Probe): Promise<readonly Observed[]> {
  const events = await streamed(probe);
  return events[0]?.kind === "message" ? skip("the agent streams one message and no task") : events;
}

/** SendStreamingMessage and the framing of every stream. */
export const streamingRequirements: readonly WireRequirement[] = [
  {
    key: "stream:media-type",
    capability: "streaming",
    versions: BOTH,
    bindings: JSON_BINDINGS,
    needs: ["streaming"],
    source: "A2A 1.0 §9.4.2, §11.7",
    behaviour: "A streamed send is answered 200 with text/event-stream.",
    async run(probe) {
      const streaming = await stream(probe, "SendStreamingMessage", sendParams(probe));
      await collect(streaming);
      demand(streaming.status === 200, `answered ${streaming.status}`);
    },
  },
  {
    key: "stream:framing",
    capability: "streaming",
    versions: BOTH,
    bindings: JSON_BINDINGS,
    needs: ["streaming"],
    source: "WHATWG HTML §9.2",
    behaviour: "Every event has data that is one JSON value, and the stream contains only server-sent events.",
    async run(probe) {
      const opened = await open(probe.subject, requestFor(probe, "SendStreamingMessage", sendParams(probe)));
      let count = 0;
      for await (const frame of readFrames(opened.chunks)) {
        count++;
        demand(frame.unknownLines.length === 0, `foreign lines: ${show(frame.unknownLines)}`);
        demand(isObject(JSON.parse(frame.data)), `data is ${show(frame.data)}`);
      }
      demand(count > 0, "the stream has no event");
    },
  },
  {
    key: "stream:first",
    capability: "streaming",
    versions: BOTH,
    needs: ["streaming"],
    source: SOURCE,
    behaviour: "A stream begins with the task, or is one message and nothing else.",
    async run(probe) {
      const events = await streamed(probe);
      const [first] = events;
      demand(first !== undefined, "the stream has no event");
      if (first.kind === "message") demand(events.length === 1, `${events.length - 1} events follow a message`);
      else demand(first.kind === "task", `the first event is a ${first.kind}`);
    },
  },
  {
    key: "stream:one-task",
    capability: "streaming",
    versions: BOTH,
    needs: ["streaming"],
    source: SOURCE,
    behaviour: "All events of a stream belong to one task and one context.",
    async run(probe) {
      const events = await streamedTask(probe);
      const ids = new Set(events.map(taskIdOf));
      demand(ids.size === 1, `task ids: ${show([...ids])}`);
      const contexts = new Set(
        events.map((observed) => (observed.kind === "task" ? observed.task.contextId : observed.raw["contextId"])),
      );
      demand(contexts.size === 1 && !contexts.has(undefined), `context ids: ${show([...contexts])}`);
    },
  },
  {
    key: "stream:ends",
    capability: "streaming",
    versions: BOTH,
    needs: ["streaming"],
    source: "A2A 1.0 §3.1.2, §11.7",
    behaviour: "A stream ends when the task ends or waits for the caller, and its state does not change after that.",
    async run(probe) {
      const states = (await streamedTask(probe)).map(stateOf).filter((state) => state !== undefined);
      const last = states.at(-1) ?? "";
      demand(isOver(last) || isWaiting(last), `the last state is ${last}`);
      const firstOver = states.findIndex(isOver);
      demand(firstOver < 0 || states.slice(firstOver).every((state) => state === last), `states: ${states.join(", ")}`);
    },
  },
  {
    key: "stream:agrees",
    capability: "streaming",
    versions: BOTH,
    needs: ["streaming"],
    source: "A2A 1.0 §3.5.2",
    behaviour: "GetTask returns the state that the stream ended with.",
    async run(probe) {
      const events = await streamedTask(probe);
      const last = events.map(stateOf).findLast((state) => state !== undefined);
      const [first] = events;
      const id = demandString(first === undefined ? undefined : taskIdOf(first), "the task's id");
      const read = probe.wire.form.seeTask(resultOf(await call(probe, "GetTask", { id })));
      demand(read.state === last, `the stream reported ${last}, GetTask reports ${read.state}`);
    },
  },
  {
    key: "stream:final",
    capability: "streaming",
    versions: ["0.3"],
    bindings: ["JSONRPC", "GRPC"],
    needs: ["streaming"],
    source: "A2A 0.3 §7.2.2",
    behaviour: "Only the last status event is final.",
    async run(probe) {
      const finals = (await streamedTask(probe)).filter(({ kind }) => kind === "status").map(({ raw }) => raw["final"]);
      if (finals.length === 0) skip("the stream has no status event");
      // Protobuf omits false.
      demand(probe.wire.binding === "GRPC" || finals.every((final) => typeof final === "boolean"), `final is ${show(finals)}`);
      demand(finals.indexOf(true) === finals.length - 1, `final is ${show(finals)}`);
    },
  },
  {
    key: "stream:chunks",
    capability: "streaming",
    versions: BOTH,
    needs: ["streaming", "commands"],
    source: "A2A 1.0 §4.2.2",
    behaviour: "Chunks of one artifact keep its id, come in order, and all but the first are appended.",
    async run(probe) {
      const chunks = (await streamed(probe)).filter((observed) => observed.kind === "artifact");
      demand(chunks.length === 3, `three chunks were commanded, ${chunks.length} came`);
      const artifacts = chunks.map(({ artifact }) => (isObject(artifact) ? artifact : {}));
      demand(new Set(artifacts.map(({ artifactId }) => artifactId)).size === 1, "the chunks have different artifact ids");
      const texts = artifacts.map(({ parts }) => JSON.stringify(parts));
      demand(
        texts.every((text, index) => text.includes(`chunk ${index + 1}`)),
        `out of order: ${show(texts)}`,
      );
      const appended = chunks.map(({ raw }) => raw["append"] === true);
      demand(appended.join() === "false,true,true", `append is ${show(appended)}`);
    },
  },
  {
    key: "stream:question",
    capability: "streaming",
    versions: BOTH,
    needs: ["streaming", "commands"],
    source: "A2A 1.0 §11.7",
    behaviour: "A stream ends when the task requires input.",
    async run(probe) {
      const events = await collect(await stream(probe, "SendStreamingMessage", sendParams(probe, { text: "conform: ask" })));
      demand(stateOf(events.at(-1)) === "input-required", `the stream ended ${stateOf(events.at(-1))}`);
    },
  },
  {
    key: "stream:early-error",
    capability: "streaming",
    needs: ["streaming"],
    source: "A2A 1.0 §3.1.2, §3.3.2",
    behaviour: "A send that is rejected before the first event is answered as an ordinary error, not as a stream.",
    async run(probe) {
      const refused = await stream(probe, "SendStreamingMessage", sendParams(probe, { taskId: probe.subject.newId() }));
      demand(refused.plain !== undefined, "an error came as a stream");
      demandError(refused.plain.error, ["TASK_NOT_FOUND"], refused.plain.result);
    },
  },
  {
    key: "stream:refused",
    capability: "streaming",
    versions: ["0.3"],
    needs: ["streaming"],
    source: "A2A 0.3 §8",
    behaviour: "A streamed send for an unknown task is rejected, by a response or by the first event.",
    async run(probe) {
      const refused = await stream(probe, "SendStreamingMessage", sendParams(probe, { taskId: probe.subject.newId() }));
      if (refused.plain !== undefined) return void demandError(refused.plain.error, ["TASK_NOT_FOUND"], refused.plain.result);
      const first = await refused.events.next().catch(() => "refused");
      demand(first === "refused", `the stream began with ${show(first)}`);
    },
  },
  {
    key: "stream:validates",
    capability: "streaming",
    needs: ["streaming"],
    source: "A2A 1.0 §3.3.2",
    behaviour: "A streamed send without parts is rejected as invalid.",
    async run(probe) {
      const message = { messageId: probe.subject.newId(), role: "ROLE_USER", parts: [] };
      const refused = await stream(probe, "SendStreamingMessage", { message });
      refused.close();
      demand(refused.plain !== undefined, "it was not rejected: a stream came back");
      demandError(refused.plain.error, ["INVALID_PARAMS", "INVALID_REQUEST"], refused.plain.result);
    },
  },
  {
    key: "stream:gate",
    capability: "streaming",
    versions: BOTH,
    needs: ["no streaming"],
    source: "A2A 1.0 §3.3.4",
    behaviour: "An agent without streaming rejects a streamed send with UnsupportedOperation.",
    async run(probe) {
      const refused = await stream(probe, "SendStreamingMessage", sendParams(probe));
      refused.close();
      demandError(refused.plain?.error, ["UNSUPPORTED_OPERATION"], "a stream");
    },
  },
  {
    key: "stream:left",
    capability: "streaming",
    versions: BOTH,
    needs: ["streaming", "commands"],
    source: "A2A 1.0 §3.5.2",
    behaviour: "Disconnecting from a stream does not stop the task.",
    async run(probe) {
      const streaming = await stream(probe, "SendStreamingMessage", sendParams(probe, { text: "conform: wait" }));
      const [first] = await collect(streaming, ({ kind }) => kind === "task");
      streaming.close();
      const id = demandString(first?.kind === "task" ? first.task.id : undefined, "the task's id");
      const { state } = probe.wire.form.seeTask(resultOf(await call(probe, "GetTask", { id })));
      await call(probe, "CancelTask", { id });
      demand(!isOver(state), `the task became ${state}`);
    },
  },
];
