import { demand, demandArray, show } from "../../check.js";
import {
  cancel,
  eventsIn,
  finishedRun,
  get,
  OPENAPI,
  post,
  type RunRequirement,
  readRun,
  run,
  runBody,
  runningRun,
  SDK,
  typesOf,
  until,
} from "./probe.js";
import { demandRefusal, demandRun, demandTimestamp, isAbsent, isOver } from "./shapes.js";

/** Runs that outlive the request: started, queried, cancelled. */
export const longRunningRequirements: readonly RunRequirement[] = [
  {
    key: "runs:async-accepted",
    capability: "long-running",
    source: `${OPENAPI} POST /runs 202`,
    behaviour: "An asynchronous run is accepted with 202, created and without output.",
    async run(probe) {
      const got = await post(probe, "/runs", runBody(probe, "hello", { mode: "async" }));
      demand(got.status === 202, `answered ${got.status} ${show(got.json)}`);
      const { status, output } = demandRun(got.json, "the run");
      demand(status === "created", `the run is ${show(status)}`);
      demand(demandArray(output, "output").length === 0, `it has output: ${show(output)}`);
    },
  },
  {
    key: "runs:async-finishes",
    capability: "long-running",
    source: `${OPENAPI} GET /runs/{run_id}`,
    behaviour: "An asynchronous run ends, or asks a question.",
    async run(probe) {
      const { run_id: id } = await run(probe, "hello", { mode: "async" });
      await until(probe, id, (status) => isOver(status) || status === "awaiting");
    },
  },
  {
    key: "runs:read",
    capability: "long-running",
    source: `${OPENAPI} GET /runs/{run_id}`,
    behaviour: "A run reads the same as in the response.",
    async run(probe) {
      const done = await finishedRun(probe);
      const read = await readRun(probe, done["run_id"]);
      for (const member of ["run_id", "agent_name", "session_id", "status", "finished_at"] as const)
        demand((read[member] ?? null) === (done[member] ?? null), `${member}: ${show(done[member])} reads ${show(read[member])}`);
      demand(JSON.stringify(read["output"]) === JSON.stringify(done["output"]), `the output reads ${show(read["output"])}`);
    },
  },
  {
    key: "runs:read-unknown",
    capability: "long-running",
    source: `${OPENAPI} GET /runs/{run_id} 404`,
    behaviour: "An unknown run is not found.",
    async run(probe) {
      demandRefusal(await get(probe, `/runs/${probe.subject.newId()}`), [404], "not_found");
    },
  },
  {
    key: "runs:id-form",
    capability: "edge-cases",
    source: `${OPENAPI} RunId`,
    behaviour: "A run id that is not a UUID is rejected.",
    async run(probe) {
      for (const path of ["", "/events"]) demandRefusal(await get(probe, `/runs/no-uuid${path}`), [404, 422], undefined);
      demandRefusal(await cancel(probe, "no-uuid"), [404, 422], undefined);
    },
  },
  {
    key: "runs:running",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} RunStatus`,
    behaviour: "A running run is in-progress and has no finish time.",
    async run(probe) {
      const { run_id: id, status, finished_at: finished } = await runningRun(probe);
      await cancel(probe, id);
      demand(status === "in-progress" && isAbsent(finished), `the run is ${show(status)}, finished ${show(finished)}`);
    },
  },
  {
    key: "events:log",
    capability: "long-running",
    source: `${OPENAPI} GET /runs/{run_id}/events`,
    behaviour: "The log of a finished run begins with its creation and ends with its end.",
    async run(probe) {
      const { run_id: id, status } = await finishedRun(probe);
      const types = typesOf(await eventsIn(probe, id));
      demand(types[0] === "run.created", `the log begins with ${types[0]}`);
      demand(types[1] === "run.in-progress", `then comes ${types[1]}`);
      demand(types.at(-1) === `run.${status}`, `the run is ${show(status)}, the log ends with ${types.at(-1)}`);
    },
  },
  {
    key: "events:whole",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} GET /runs/{run_id}/events`,
    behaviour: "The log of a running run is returned at once, up to now.",
    async run(probe) {
      const { run_id: id } = await runningRun(probe);
      const types = typesOf(await eventsIn(probe, id));
      await cancel(probe, id);
      demand(types[0] === "run.created" && !types.some((type) => isOver(type.slice(4))), `the log has ${types.join(", ")}`);
    },
  },
  {
    key: "events:unknown",
    capability: "long-running",
    source: `${OPENAPI} GET /runs/{run_id}/events 404`,
    behaviour: "The log of an unknown run is not found.",
    async run(probe) {
      demandRefusal(await get(probe, `/runs/${probe.subject.newId()}/events`), [404], "not_found");
    },
  },
  {
    key: "cancel:accepted",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} POST /runs/{run_id}/cancel`,
    behaviour: "A cancellation is accepted with 202 and the run, which is cancelling.",
    async run(probe) {
      const { run_id: id } = await runningRun(probe);
      const got = await cancel(probe, id);
      demand(got.status === 202, `answered ${got.status} ${show(got.json)}`);
      const { run_id: answered, status } = demandRun(got.json, "the run");
      demand(answered === id, `the answer is about run ${show(answered)}`);
      demand(status === "cancelling" || status === "cancelled", `the run is ${show(status)}`);
    },
  },
  {
    key: "cancel:ends",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} RunStatus`,
    behaviour: "A cancelled run ends as cancelled, with a finish time.",
    async run(probe) {
      const { run_id: id } = await runningRun(probe);
      await cancel(probe, id);
      const ended = await until(probe, id, isOver);
      demand(ended["status"] === "cancelled", `the run ended ${show(ended["status"])}`);
      demandTimestamp(ended["finished_at"], "finished_at");
    },
  },
  {
    key: "cancel:logged",
    capability: "long-running",
    commanded: true,
    source: `${SDK} models/models.py RunCancelledEvent`,
    behaviour: "The log of a cancelled run ends with run.cancelled.",
    async run(probe) {
      const { run_id: id } = await runningRun(probe);
      await cancel(probe, id);
      await until(probe, id, isOver);
      const types = typesOf(await eventsIn(probe, id));
      demand(types.at(-1) === "run.cancelled", `the log ends with ${types.at(-1)}`);
    },
  },
  {
    key: "cancel:finished",
    capability: "long-running",
    source: `${SDK} server/app.py cancel_run, 403`,
    behaviour: "A finished run cannot be cancelled, and does not change.",
    async run(probe) {
      const { run_id: id, status } = await finishedRun(probe);
      demandRefusal(await cancel(probe, id), [403, 409], "server_error");
      const read = await readRun(probe, id);
      demand(read["status"] === status, `the run became ${show(read["status"])}`);
    },
  },
  {
    key: "cancel:unknown",
    capability: "long-running",
    source: `${OPENAPI} POST /runs/{run_id}/cancel 404`,
    behaviour: "The cancellation of an unknown run is not found.",
    async run(probe) {
      demandRefusal(await cancel(probe, probe.subject.newId()), [404], "not_found");
    },
  },
  {
    key: "cancel:waiting",
    capability: "long-running",
    commanded: true,
    source: `${OPENAPI} RunStatus`,
    behaviour: "An awaiting run can be cancelled.",
    async run(probe) {
      const { run_id: id } = await run(probe, "conform: ask");
      demand((await cancel(probe, id)).status === 202, "it was refused");
      const { status } = await until(probe, id, isOver);
      demand(status === "cancelled", `the run ended ${show(status)}`);
    },
  },
];
