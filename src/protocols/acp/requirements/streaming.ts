import type { JsonObject } from "../../../envelope/index.js";
import { demand, demandArray, demandObject, show } from "../../check.js";
import { type Frame, readFrames } from "../../frames.js";
import {
  all,
  cancel,
  eventsIn,
  listen,
  OPENAPI,
  type Probe,
  post,
  type RunRequirement,
  readRun,
  runBody,
  runIn,
  SDK,
  streamed,
  typesOf,
  until,
} from "./probe.js";
import { contentOf, demandRefusal, demandRun, isAbsent, isOver, partsOf, textIn } from "./shapes.js";

const SOURCE = `${OPENAPI} POST /runs, text/event-stream`;

/** One streamed run, by command if the agent understands them. */
const anyStream = (probe: Probe): Promise<readonly JsonObject[]> =>
  streamed(probe, probe.commands ? "conform: stream 3" : "hello");

async function* framesOf(probe: Probe): AsyncGenerator<Frame> {
  yield* readFrames((await listen(probe, "/runs", runBody(probe, "hello", { mode: "stream" }))).opened.chunks);
}

/** Streamed runs. */
export const streamingRequirements: readonly RunRequirement[] = [
  {
    key: "stream:media-type",
    capability: "streaming",
    source: SOURCE,
    behaviour: "A streamed run is answered 200 with text/event-stream.",
    async run(probe) {
      const listening = await listen(probe, "/runs", runBody(probe, "hello", { mode: "stream" }));
      await all(listening);
      demand(listening.opened.status === 200, `answered ${listening.opened.status}`);
    },
  },
  {
    key: "stream:framing",
    capability: "streaming",
    source: "WHATWG HTML §9.2",
    behaviour: "Every event is one line of data that is one JSON object, and the stream ends after a complete event.",
    async run(probe) {
      let count = 0;
      for await (const frame of framesOf(probe)) {
        count++;
        demand(frame.unknownLines.length === 0, `foreign lines: ${show(frame.unknownLines)}`);
        demand(frame.dataLines === 1, `an event has ${frame.dataLines} lines of data`);
        demandObject(JSON.parse(frame.data), "data");
      }
      demand(count > 0, "the stream has no event");
    },
  },
  {
    key: "stream:no-event-names",
    capability: "streaming",
    source: `${SDK} server/utils.py stream_sse`,
    behaviour: "Events have no names: their type is in the data, as the official clients expect.",
    async run(probe) {
      for await (const { event } of framesOf(probe)) demand(event === "message", `an event is named ${show(event)}`);
    },
  },
  {
    key: "stream:run-id-header",
    capability: "streaming",
    level: "should",
    source: `${SDK} server/app.py Headers.RUN_ID`,
    behaviour: "The header Run-ID names the run before the first event does.",
    async run(probe) {
      const listening = await listen(probe, "/runs", runBody(probe, "hello", { mode: "stream" }));
      const [first] = await all(listening);
      const header = listening.opened.headers["run-id"];
      demand(header === runIn(first)["run_id"], `the header is ${show(header)}, the run ${show(runIn(first)["run_id"])}`);
    },
  },
  {
    key: "stream:begins",
    capability: "streaming",
    source: `${SDK} server/executor.py`,
    behaviour: "A stream begins with run.created and run.in-progress.",
    async run(probe) {
      const [first, second] = typesOf(await anyStream(probe));
      demand(first === "run.created" && second === "run.in-progress", `it begins with ${first}, ${second}`);
    },
  },
  {
    key: "stream:created-empty",
    capability: "streaming",
    source: `${SDK} server/executor.py`,
    behaviour: "The first event contains the initial run: created, without output.",
    async run(probe) {
      const { status, output } = runIn((await anyStream(probe))[0]);
      demand(status === "created" && demandArray(output, "output").length === 0, `it is ${show(status)} with ${show(output)}`);
    },
  },
  {
    key: "stream:ends",
    capability: "streaming",
    source: SOURCE,
    behaviour: "A stream ends with the event of the run's end or of its question, and only there.",
    async run(probe) {
      const types = typesOf(await anyStream(probe));
      const ends = types.filter((type) => /^run\.(completed|failed|cancelled|awaiting)$/.test(type));
      demand(ends.length === 1 && types.at(-1) === ends[0], `the events are ${types.join(", ")}`);
    },
  },
  {
    key: "stream:status-agrees",
    capability: "streaming",
    source: `${OPENAPI} Event`,
    behaviour: "The run in an event has the status that the event is named for.",
    async run(probe) {
      for (const event of (await anyStream(probe)).filter(({ run }) => run !== undefined)) {
        const { status } = runIn(event);
        demand(event["type"] === `run.${status}`, `${show(event["type"])} shows a run that is ${show(status)}`);
      }
    },
  },
  {
    key: "stream:one-run",
    capability: "streaming",
    source: SOURCE,
    behaviour: "All events of a stream are of one run and one session.",
    async run(probe) {
      const runs = (await anyStream(probe)).filter(({ run }) => run !== undefined).map(runIn);
      const ids = new Set(runs.map(({ run_id: id, session_id: session }) => `${id} ${session}`));
      demand(ids.size === 1, `runs and sessions: ${show([...ids])}`);
    },
  },
  {
    key: "stream:message-brackets",
    capability: "streaming",
    source: `${OPENAPI} MessageCreatedEvent`,
    behaviour: "Parts come between the event that begins their message and the one that completes it.",
    async run(probe) {
      let isOpen = false;
      for (const type of typesOf(await anyStream(probe))) {
        if (type === "message.part") demand(isOpen, "a part comes outside of any message");
        if (type === "message.created") demand(!isOpen, "a message begins inside another");
        if (type.startsWith("message.")) isOpen = type !== "message.completed";
        if (type === "run.completed") demand(!isOpen, "the run completes inside a message");
      }
    },
  },
  {
    key: "stream:message-whole",
    capability: "streaming",
    source: `${OPENAPI} MessageCompletedEvent`,
    behaviour: "A completed message has all the parts that came since it began.",
    async run(probe) {
      let parts: unknown[] = [];
      for (const event of await anyStream(probe)) {
        if (event["type"] === "message.created") parts = [];
        if (event["type"] === "message.part") parts.push(event["part"]);
        if (event["type"] !== "message.completed") continue;
        const got = partsOf(event["message"]).map(contentOf).join("");
        const sent = parts.map((part) => contentOf(demandObject(part, "part"))).join("");
        demand(got === sent, `the parts were ${show(sent)}, the message has ${show(got)}`);
      }
    },
  },
  {
    key: "stream:message-open",
    capability: "streaming",
    level: "should",
    commanded: true,
    source: `${SDK} server/executor.py`,
    behaviour: "A chunked message is not completed when it begins.",
    async run(probe) {
      const started = (await anyStream(probe)).find(({ type }) => type === "message.created");
      demand(isAbsent(demandObject(started?.["message"], "message")["completed_at"]), `it begins as ${show(started)}`);
    },
  },
  {
    key: "stream:chunks",
    capability: "streaming",
    commanded: true,
    source: `${OPENAPI} MessagePartEvent`,
    behaviour: "Chunks come in order, each in its own event.",
    async run(probe) {
      const parts = (await streamed(probe, "conform: stream 5")).filter(({ type }) => type === "message.part");
      const texts = parts.map(({ part }) => contentOf(demandObject(part, "part")));
      demand(texts.join("|") === "chunk 1 |chunk 2 |chunk 3 |chunk 4 |chunk 5 ", `the chunks are ${show(texts)}`);
    },
  },
  {
    key: "stream:output-agrees",
    capability: "streaming",
    commanded: true,
    source: `${OPENAPI} Run.output`,
    behaviour: "The output of the finished run is what was streamed.",
    async run(probe) {
      const events = await streamed(probe, "conform: stream 3");
      const sent = events.filter(({ type }) => type === "message.part").map(({ part }) => contentOf(demandObject(part, "part")));
      const output = textIn(runIn(events.at(-1))["output"]);
      demand(output === sent.join(""), `streamed ${show(sent.join(""))}, the output is ${show(output)}`);
    },
  },
  {
    key: "stream:logged",
    capability: "streaming",
    source: `${OPENAPI} GET /runs/{run_id}/events`,
    behaviour: "The log of a run is what was streamed, event by event.",
    async run(probe) {
      const events = await anyStream(probe);
      const logged = await eventsIn(probe, runIn(events[0])["run_id"]);
      demand(typesOf(logged).join() === typesOf(events).join(), `streamed ${typesOf(events)}, logged ${typesOf(logged)}`);
    },
  },
  {
    key: "stream:read-agrees",
    capability: "streaming",
    source: `${OPENAPI} GET /runs/{run_id}`,
    behaviour: "The run reads the same as in the last event.",
    async run(probe) {
      const last = runIn((await anyStream(probe)).at(-1));
      const read = await readRun(probe, last["run_id"]);
      demand(read["status"] === last["status"], `the stream said ${show(last["status"])}, it reads ${show(read["status"])}`);
      demand(textIn(read["output"]) === textIn(last["output"]), `its output reads ${show(read["output"])}`);
    },
  },
  {
    key: "stream:failed",
    capability: "streaming",
    commanded: true,
    source: `${SDK} server/executor.py`,
    behaviour: "A failed run ends the stream with run.failed, with the error in the run.",
    async run(probe) {
      const events = await streamed(probe, "conform: fail");
      demand(typesOf(events).at(-1) === "run.failed", `it ends with ${typesOf(events).at(-1)}`);
      demand(!isAbsent(runIn(events.at(-1))["error"]), "the run has no error");
    },
  },
  {
    key: "stream:cancelled",
    capability: "streaming",
    commanded: true,
    source: `${SDK} server/executor.py`,
    behaviour: "A cancellation ends the stream of the run with run.cancelled.",
    async run(probe) {
      const { events } = await listen(probe, "/runs", runBody(probe, "conform: wait", { mode: "stream" }));
      const first = demandObject((await events.next()).value, "the first event");
      await until(probe, runIn(first)["run_id"], (status) => status === "in-progress");
      await cancel(probe, runIn(first)["run_id"]);
      let last = "";
      for await (const { type } of events) last = String(type);
      demand(last === "run.cancelled", `it ends with ${last}`);
    },
  },
  {
    key: "stream:left",
    capability: "streaming",
    commanded: true,
    source: `${SDK} server/app.py create_run`,
    behaviour: "Disconnecting from a stream does not stop the run.",
    async run(probe) {
      const { events, opened } = await listen(probe, "/runs", runBody(probe, "conform: wait", { mode: "stream" }));
      const { run_id: id } = runIn(demandObject((await events.next()).value, "the first event"));
      opened.close();
      const { status } = await readRun(probe, id);
      await cancel(probe, id);
      demand(!isOver(status), `the run became ${show(status)}`);
    },
  },
  {
    key: "stream:refused",
    capability: "streaming",
    source: `${SDK} client/client.py _validate_stream`,
    behaviour: "A stream that cannot start is rejected with an ordinary error.",
    async run(probe) {
      demandRefusal(
        await post(probe, "/runs", runBody(probe, "hello", { mode: "stream", input: "hello" })),
        [400, 422],
        "invalid_input",
      );
    },
  },
  {
    key: "stream:accept",
    capability: "streaming",
    source: `${OPENAPI} RunCreateRequest.mode`,
    behaviour: "The mode determines the response, not the Accept header.",
    async run(probe) {
      const headers = { accept: "text/event-stream" };
      const got = await post(probe, "/runs", runBody(probe, "hello", { mode: "sync" }), { headers });
      demandRun(got.json, "the run");
    },
  },
];
