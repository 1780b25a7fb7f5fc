import { demand, demandObject, show } from "../../duty.js";
import {
  all,
  askedRun,
  cancel,
  eventsIn,
  finishedRun,
  listen,
  OPENAPI,
  post,
  type RunDuty,
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

/** Runs that ask a question, and how they go on. */
export const awaitDuties: readonly RunDuty[] = [
  {
    key: "await:question",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} Run.await_request`,
    behaviour: "A run that asks is awaiting, and carries the question as a message.",
    async run(probe) {
      const asked = await askedRun(probe);
      const { type, message } = demandObject(asked["await_request"], "await_request");
      demand(type === "message", `the question is of the type ${show(type)}`);
      const text = textIn([demandMessage(message)]);
      await cancel(probe, asked["run_id"]);
      demand(text === "what is the answer?", `the question is ${show(text)}`);
    },
  },
  {
    key: "await:not-finished",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} Run.finished_at`,
    behaviour: "A run that asks has not finished.",
    async run(probe) {
      const asked = await askedRun(probe);
      await cancel(probe, asked["run_id"]);
      demand(isAbsent(asked["finished_at"]), `finished_at is ${show(asked["finished_at"])}`);
    },
  },
  {
    key: "await:kept",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} GET /runs/{run_id}`,
    behaviour: "The question is there for whoever reads the run later.",
    async run(probe) {
      const asked = await askedRun(probe);
      const read = await readRun(probe, asked["run_id"]);
      await cancel(probe, asked["run_id"]);
      demand(read["status"] === "awaiting" && !isAbsent(read["await_request"]), `the run reads ${show(read)}`);
    },
  },
  {
    key: "resume:sync",
    capability: "long-running",
    commanded: true,
    source: SOURCE,
    behaviour: "An answer takes the same run to its end, and reaches the agent.",
    async run(probe) {
      const asked = await askedRun(probe);
      const got = await post(probe, `/runs/${asked["run_id"]}`, resumeBody("forty-two"));
      demand(got.status === 200, `answered ${got.status} ${show(got.json)}`);
      const done = demandRun(got.json, "the run");
      demand(done["run_id"] === asked["run_id"], `the answer went to run ${show(done["run_id"])}`);
      demand(done["session_id"] === asked["session_id"], `the session changed to ${show(done["session_id"])}`);
      demand(done["status"] === "completed", `the run is ${show(done["status"])}`);
      demand(textIn(done["output"]).includes("the answer was: forty-two"), `the output is ${show(done["output"])}`);
    },
  },
  {
    key: "resume:async",
    capability: "long-running",
    commanded: true,
    source: `${SOURCE} 202`,
    behaviour: "An answer that is not waited for is accepted 202, and the run ends by itself.",
    async run(probe) {
      const { run_id: id } = await askedRun(probe);
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
    behaviour: "An answer can be listened to: the stream goes on where the question was, without what came before it.",
    async run(probe) {
      const asked = await askedRun(probe);
      const events = await all(await listen(probe, `/runs/${asked["run_id"]}`, resumeBody("forty-two", "stream")));
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
    behaviour: "An answer may name the run in its body too, as the specification has it.",
    async run(probe) {
      const { run_id: id = "" } = await askedRun(probe);
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
      demand(!isAbsent(runIn(events.at(-1))["await_request"]), "the last event does not say what is asked");
    },
  },
  {
    key: "resume:logged",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} GET /runs/{run_id}/events`,
    behaviour: "The log of a run tells both halves: the question, and what came after the answer.",
    async run(probe) {
      const { run_id: id } = await askedRun(probe);
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
    behaviour: "An answer to a run that asked nothing is refused.",
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
    behaviour: "A run that once asked and has finished is not taken up again.",
    async run(probe) {
      const { run_id: id } = await askedRun(probe);
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
    behaviour: "A run that was cancelled while it asked takes no answer.",
    async run(probe) {
      const { run_id: id } = await askedRun(probe);
      await cancel(probe, id);
      await until(probe, id, isOver);
      demandRefusal(await post(probe, `/runs/${id}`, resumeBody("again", "async")), [403, 409], "server_error");
    },
  },
  {
    key: "resume:unknown",
    capability: "long-running",
    source: `${SOURCE} 404`,
    behaviour: "An answer to a run that is not there is refused as not found.",
    async run(probe) {
      demandRefusal(await post(probe, `/runs/${probe.subject.newId()}`, resumeBody("42")), [404], "not_found");
    },
  },
  {
    key: "resume:no-mode",
    capability: "edge-cases",
    commanded: true,
    source: `${OPENAPI} RunResumeRequest.mode`,
    behaviour: "An answer without a mode is refused, and the run goes on waiting.",
    async run(probe) {
      const { run_id: id } = await askedRun(probe);
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
    behaviour: "An answer of a type nobody defined is refused, and the run goes on waiting.",
    async run(probe) {
      const { run_id: id } = await askedRun(probe);
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
    behaviour: "A run that needs the caller's authorization waits for the caller: the protocol has no other word.",
    async run(probe) {
      const { run_id: id, status } = await run(probe, "conform: authorize");
      await cancel(probe, id);
      demand(status === "awaiting", `the run is ${show(status)}`);
    },
  },
];
