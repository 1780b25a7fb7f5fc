import { demand, demandObject, show } from "../../check.js";
import {
  all,
  awaitingRun,
  cancel,
  eventsIn,
  finishedRun,
  listen,
  OPENAPI,
  post,
  type RunRequirement,
  readRun,
  resumeBody,
  run,
  runIn,
  SDK,
  streamed,
  typesOf,
  until,
} from "./probe.js";
import { demandMessage, demandRefusal, demandRun, isAbsent, isOver, textIn } from "./shapes.js";

const SOURCE = `${OPENAPI} POST /runs/{run_id}`;

/** Runs that ask a question, and how they are resumed. */
export const awaitRequirements: readonly RunRequirement[] = [
  {
    key: "await:question",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} Run.await_request`,
    behaviour: "A run with a question is awaiting, and carries the question as a message.",
    async run(probe) {
      const run = await awaitingRun(probe);
      const { type, message } = demandObject(run["await_request"], "await_request");
      demand(type === "message", `the question is of the type ${show(type)}`);
      const text = textIn([demandMessage(message)]);
      await cancel(probe, run["run_id"]);
      demand(text === "what is the answer?", `the question is ${show(text)}`);
    },
  },
  {
    key: "await:not-finished",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} Run.finished_at`,
    behaviour: "An awaiting run has no finish time.",
    async run(probe) {
      const run = await awaitingRun(probe);
      await cancel(probe, run["run_id"]);
      demand(isAbsent(run["finished_at"]), `finished_at is ${show(run["finished_at"])}`);
    },
  },
  {
    key: "await:kept",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} GET /runs/{run_id}`,
    behaviour: "The question is also in the run when it is read later.",
    async run(probe) {
      const run = await awaitingRun(probe);
      const read = await readRun(probe, run["run_id"]);
      await cancel(probe, run["run_id"]);
      demand(read["status"] === "awaiting" && !isAbsent(read["await_request"]), `the run reads ${show(read)}`);
    },
  },
  {
    key: "resume:sync",
    capability: "long-running",
    commanded: true,
    source: SOURCE,
    behaviour: "An answer reaches the agent and completes the same run.",
    async run(probe) {
      const run = await awaitingRun(probe);
      const got = await post(probe, `/runs/${run["run_id"]}`, resumeBody("forty-two"));
      demand(got.status === 200, `answered ${got.status} ${show(got.json)}`);
      const done = demandRun(got.json, "the run");
      demand(done["run_id"] === run["run_id"], `the answer went to run ${show(done["run_id"])}`);
      demand(done["session_id"] === run["session_id"], `the session changed to ${show(done["session_id"])}`);
      demand(done["status"] === "completed", `the run is ${show(done["status"])}`);
      demand(textIn(done["output"]).includes("the answer was: forty-two"), `the output is ${show(done["output"])}`);
    },
  },
  {
    key: "resume:async",
    capability: "long-running",
    commanded: true,
    source: `${SOURCE} 202`,
    behaviour: "An asynchronous answer is accepted with 202, and the run ends.",
    async run(probe) {
      const { run_id: id } = await awaitingRun(probe);
      const got = await post(probe, `/runs/${id}`, resumeBody("forty-two", "async"));
      demand(got.status === 202, `answered ${got.status} ${show(got.json)}`);
      demandRun(got.json, "the run");
      const done = await until(probe, id, isOver);
      demand(done["status"] === "completed", `the run is ${show(done["status"])}`);
    },
  },
  {
    key: "resume:stream",
    capability: "streaming",
    commanded: true,
    source: `${SDK} server/app.py resume_run`,
    behaviour: "An answer can be streamed: the stream continues after the question.",
    async run(probe) {
      const run = await awaitingRun(probe);
      const events = await all(await listen(probe, `/runs/${run["run_id"]}`, resumeBody("forty-two", "stream")));
      const types = typesOf(events);
      demand(types[0] === "run.in-progress", `the stream begins with ${types[0]}`);
      demand(types.at(-1) === "run.completed", `the stream ends with ${types.at(-1)}`);
      demand(!types.includes("run.created") && !types.includes("run.awaiting"), `the stream repeats: ${types.join(", ")}`);
    },
  },
  {
    key: "resume:run-id-in-body",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} RunResumeRequest.run_id`,
    behaviour: "An answer may also name the run in its body, as in the specification.",
    async run(probe) {
      const { run_id: id = "" } = await awaitingRun(probe);
      const { status } = await post(probe, `/runs/${id}`, { run_id: id, ...resumeBody("forty-two") });
      demand(status === 200, `answered ${status}`);
    },
  },
  {
    key: "resume:stream-ends-at-question",
    capability: "streaming",
    commanded: true,
    source: `${SDK} server/utils.py stream_sse`,
    behaviour: "A stream ends with the question, because nothing follows until it is answered.",
    async run(probe) {
      const events = await streamed(probe, "conform: ask");
      await cancel(probe, runIn(events[0])["run_id"]);
      demand(typesOf(events).at(-1) === "run.awaiting", `the stream ends with ${typesOf(events).at(-1)}`);
      demand(!isAbsent(runIn(events.at(-1))["await_request"]), "the last event has no question");
    },
  },
  {
    key: "resume:logged",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} GET /runs/{run_id}/events`,
    behaviour: "The log of a run contains the question and the events after the answer.",
    async run(probe) {
      const { run_id: id } = await awaitingRun(probe);
      await post(probe, `/runs/${id}`, resumeBody("forty-two"));
      const types = typesOf(await eventsIn(probe, id)).filter((type) => type.startsWith("run."));
      const wanted = "run.created, run.in-progress, run.awaiting, run.in-progress, run.completed";
      demand(types.join(", ") === wanted, `the log has ${types.join(", ")}`);
    },
  },
  {
    key: "resume:not-awaiting",
    capability: "long-running",
    source: `${SDK} server/app.py resume_run, 403`,
    behaviour: "An answer to a run without a question is rejected.",
    async run(probe) {
      const { run_id: id } = await finishedRun(probe);
      demandRefusal(await post(probe, `/runs/${id}`, resumeBody("forty-two")), [403, 409], "server_error");
    },
  },
  {
    key: "resume:finished",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} RunStatus`,
    behaviour: "A finished run cannot be resumed.",
    async run(probe) {
      const { run_id: id } = await awaitingRun(probe);
      await post(probe, `/runs/${id}`, resumeBody("forty-two"));
      demandRefusal(await post(probe, `/runs/${id}`, resumeBody("again", "async")), [403, 409], "server_error");
      const { status } = await readRun(probe, id);
      demand(status === "completed", `the finished run became ${show(status)}`);
    },
  },
  {
    key: "resume:cancelled",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} RunStatus`,
    behaviour: "A run cancelled while awaiting accepts no answer.",
    async run(probe) {
      const { run_id: id } = await awaitingRun(probe);
      await cancel(probe, id);
      await until(probe, id, isOver);
      demandRefusal(await post(probe, `/runs/${id}`, resumeBody("again", "async")), [403, 409], "server_error");
    },
  },
  {
    key: "resume:unknown",
    capability: "long-running",
    source: `${SOURCE} 404`,
    behaviour: "An answer to an unknown run is not found.",
    async run(probe) {
      demandRefusal(await post(probe, `/runs/${probe.subject.newId()}`, resumeBody("42")), [404], "not_found");
    },
  },
  {
    key: "resume:no-mode",
    capability: "edge-cases",
    commanded: true,
    source: `${OPENAPI} RunResumeRequest.mode`,
    behaviour: "An answer without a mode is rejected, and the run keeps waiting.",
    async run(probe) {
      const { run_id: id } = await awaitingRun(probe);
      const { mode: _, ...body } = resumeBody("forty-two");
      const got = await post(probe, `/runs/${id}`, body);
      const { status } = await readRun(probe, id);
      await cancel(probe, id);
      demandRefusal(got, [400, 422], "invalid_input");
      demand(status === "awaiting", `the run became ${show(status)}`);
    },
  },
  {
    key: "resume:unknown-type",
    capability: "edge-cases",
    commanded: true,
    source: `${SDK} models/models.py MessageAwaitResume`,
    behaviour: "An answer of an undefined type is rejected, and the run keeps waiting.",
    async run(probe) {
      const { run_id: id } = await awaitingRun(probe);
      const got = await post(probe, `/runs/${id}`, { await_resume: { type: "telepathy" }, mode: "sync" });
      const { status } = await readRun(probe, id);
      await cancel(probe, id);
      demandRefusal(got, [400, 403, 422], undefined);
      demand(status === "awaiting", `the run became ${show(status)}`);
    },
  },
  {
    key: "await:authorization",
    capability: "security",
    commanded: true,
    source: `${OPENAPI} RunStatus`,
    behaviour: "A run that needs authorization is awaiting: ACP has no other state for it.",
    async run(probe) {
      const { run_id: id, status } = await run(probe, "conform: authorize");
      await cancel(probe, id);
      demand(status === "awaiting", `the run is ${show(status)}`);
    },
  },
];
