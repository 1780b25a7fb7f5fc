import type { JsonObject } from "../../../envelope/index.js";
import { demand, demandArray, show } from "../../check.js";
import { finishedRun, OPENAPI, post, type RunRequirement, readRun, run, runBody, SDK } from "./probe.js";
import { contentOf, demandRefusal, demandRun, demandTimestamp, demandUuid, isAbsent, isOver, partsOf, textIn } from "./shapes.js";

const SOURCE = `${OPENAPI} POST /runs`;

/** Synchronous runs: members, output, input. */
export const runRequirements: readonly RunRequirement[] = [
  {
    key: "runs:sync-completes",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "A synchronous run is answered with 200, finished or with a question.",
    async run(probe) {
      const got = await post(probe, "/runs", runBody(probe, "hello", { mode: "sync" }));
      demand(got.status === 200, `answered ${got.status} ${show(got.json)}`);
      const { status } = demandRun(got.json, "the run");
      demand(isOver(status) || status === "awaiting", `the run is ${show(status)}`);
    },
  },
  {
    key: "runs:sync-is-default",
    capability: "round-trip",
    source: `${OPENAPI} RunCreateRequest.mode`,
    behaviour: "A run without a mode is synchronous.",
    async run(probe) {
      const { status } = await run(probe, "hello");
      demand(isOver(status) || status === "awaiting", `the run is ${show(status)}`);
    },
  },
  {
    key: "runs:agent-name",
    capability: "round-trip",
    source: `${OPENAPI} Run.agent_name`,
    behaviour: "A run names its agent.",
    async run(probe) {
      const { agent_name: name } = await run(probe, "hello");
      demand(name === probe.agent, `${show(probe.agent)} was requested, the run is of ${show(name)}`);
    },
  },
  {
    key: "runs:run-id",
    capability: "round-trip",
    source: `${OPENAPI} RunId`,
    behaviour: "Every run has its own UUID.",
    async run(probe) {
      const [one, two] = [await run(probe, "hello"), await run(probe, "hello")];
      demand(one["run_id"] !== two["run_id"], `both runs are ${show(one["run_id"])}`);
    },
  },
  {
    key: "runs:run-id-header",
    capability: "round-trip",
    level: "should",
    source: `${SDK} server/app.py Headers.RUN_ID`,
    behaviour: "The header Run-ID names the run in every mode.",
    async run(probe) {
      for (const mode of ["sync", "async"]) {
        const got = await post(probe, "/runs", runBody(probe, "hello", { mode }));
        const { run_id: id } = demandRun(got.json, "the run");
        demand(got.headers["run-id"] === id, `${mode}: the header is ${show(got.headers["run-id"])}, the run ${show(id)}`);
      }
    },
  },
  {
    key: "runs:session-id",
    capability: "round-trip",
    level: "should",
    source: `${SDK} server/app.py create_run`,
    behaviour: "A run without a session gets one.",
    async run(probe) {
      demandUuid((await run(probe, "hello"))["session_id"], "session_id");
    },
  },
  {
    key: "runs:created-at",
    capability: "round-trip",
    source: `${OPENAPI} Run.created_at`,
    behaviour: "The creation time of a run does not change.",
    async run(probe) {
      const started = await finishedRun(probe);
      const read = await readRun(probe, started["run_id"]);
      demand(read["created_at"] === started["created_at"], `${show(started["created_at"])} became ${show(read["created_at"])}`);
    },
  },
  {
    key: "runs:finished-at",
    capability: "round-trip",
    source: `${OPENAPI} Run.finished_at`,
    behaviour: "A finished run has a finish time, which is not before its creation.",
    async run(probe) {
      const { created_at: started, finished_at: finished } = await finishedRun(probe);
      demandTimestamp(finished, "finished_at");
      demand(Date.parse(String(finished)) >= Date.parse(String(started)), `began ${show(started)}, finished ${show(finished)}`);
    },
  },
  {
    key: "runs:output-role",
    capability: "round-trip",
    source: `${SDK} server/executor.py`,
    behaviour: "Every message of the output is the agent's: its role is agent, a slash and the agent's name.",
    async run(probe) {
      const { output } = await finishedRun(probe);
      const roles = demandArray(output, "output").map((message) => (message as JsonObject)["role"]); // finishedRun saw messages
      demand(
        roles.every((role) => role === `agent/${probe.agent}`),
        `roles: ${show(roles)}`,
      );
    },
  },
  {
    key: "runs:output-text",
    capability: "round-trip",
    commanded: true,
    source: SOURCE,
    behaviour: "The agent's answer is in the output, as text.",
    async run(probe) {
      const text = textIn((await run(probe, "hello"))["output"]);
      demand(text === "you said: hello", `the output is ${show(text)}`);
    },
  },
  {
    key: "runs:output-artifact",
    capability: "round-trip",
    commanded: true,
    source: `${OPENAPI} MessagePart.name`,
    behaviour: "A result with a name is a part with that name.",
    async run(probe) {
      const parts = demandArray((await run(probe, "conform: task"))["output"], "output").flatMap(partsOf);
      const named = parts.filter(({ name }) => name === "result").map(contentOf);
      demand(named.join() === "done", `the parts are ${show(parts)}`);
    },
  },
  {
    key: "runs:no-error",
    capability: "round-trip",
    commanded: true,
    source: `${OPENAPI} Run.error`,
    behaviour: "A completed run has neither an error nor a question.",
    async run(probe) {
      const { status, error, await_request: question } = await run(probe, "conform: task");
      demand(status === "completed", `the run is ${show(status)}`);
      demand(isAbsent(error) && isAbsent(question), `error ${show(error)}, question ${show(question)}`);
    },
  },
  {
    key: "runs:failed",
    capability: "round-trip",
    commanded: true,
    source: `${SDK} server/executor.py`,
    behaviour: "A failure of the agent is a failed run with the reason, not an HTTP error.",
    async run(probe) {
      const failed = await run(probe, "conform: fail");
      demand(failed["status"] === "failed", `the run is ${show(failed["status"])}`);
      demand(!isAbsent(failed["error"]), "the run has no error");
      demand(JSON.stringify(failed["error"]).includes("as commanded"), `the error is ${show(failed["error"])}`);
      demandTimestamp(failed["finished_at"], "finished_at");
    },
  },
  {
    key: "runs:rejected",
    capability: "round-trip",
    commanded: true,
    source: `${OPENAPI} RunStatus`,
    behaviour: "A rejection by the agent is a failed run: ACP has no other state for it.",
    async run(probe) {
      const { status, error } = await run(probe, "conform: reject");
      demand(status === "failed" && !isAbsent(error), `the run is ${show(status)}, its error ${show(error)}`);
    },
  },
  {
    key: "runs:no-content-type",
    capability: "round-trip",
    source: `${SDK} client/client.py`,
    behaviour: "A body without a content type is read as JSON: the official Python client sends none.",
    async run(probe) {
      const got = await post(probe, "/runs", undefined, { body: JSON.stringify(runBody(probe, "hello")) });
      demand(got.status === 200, `answered ${got.status} ${show(got.json)}`);
    },
  },
  {
    key: "runs:content-type-parameters",
    capability: "round-trip",
    source: "RFC 9110 §8.3.1",
    behaviour: "A content type with parameters and in another letter case is accepted.",
    async run(probe) {
      const headers = { "content-type": "Application/JSON; Charset=UTF-8" };
      const { status } = await post(probe, "/runs", runBody(probe, "hello"), { headers });
      demand(status === 200, `answered ${status}`);
    },
  },
  {
    key: "runs:nulls",
    capability: "round-trip",
    source: `${SDK} client/client.py RunCreateRequest`,
    behaviour: "Null members are read as absent: the official Python client writes all of them.",
    async run(probe) {
      const part = { name: null, content: "hello", content_type: "text/plain", content_encoding: "plain", content_url: null };
      const input = [{ role: "user", parts: [{ ...part, metadata: null }], created_at: null, completed_at: null }];
      await run(probe, "", { input, session: null, session_id: null });
    },
  },
  {
    key: "runs:defaults",
    capability: "round-trip",
    source: `${SDK} models/models.py Message, MessagePart`,
    behaviour: "A message without a role is the user's, and a part without a content type is plain text.",
    async run(probe) {
      const { output } = await run(probe, "", { input: [{ parts: [{ content: "hello" }] }] });
      if (probe.commands) demand(textIn(output) === "you said: hello", `the output is ${show(textIn(output))}`);
    },
  },
  {
    key: "runs:roles",
    capability: "round-trip",
    source: `${OPENAPI} Message.role`,
    behaviour: "Messages of another agent are accepted.",
    async run(probe) {
      for (const role of ["agent", "agent/some_other-1"])
        await run(probe, "", { input: [{ role, parts: [{ content_type: "text/plain", content: "hello" }] }] });
    },
  },
  {
    key: "runs:several-messages",
    capability: "round-trip",
    commanded: true,
    source: `${OPENAPI} RunCreateRequest.input`,
    behaviour: "All messages of the user reach the agent, in order.",
    async run(probe) {
      const message = (content: string): JsonObject => ({ role: "user", parts: [{ content_type: "text/plain", content }] });
      const text = textIn((await run(probe, "", { input: [message("first"), message("second")] }))["output"]);
      demand(/first.*second/s.test(text), `the output is ${show(text)}`);
    },
  },
  {
    key: "runs:empty-input",
    capability: "edge-cases",
    level: "should",
    source: `${SDK} server/app.py create_run`,
    behaviour: "A run without messages is accepted, as by deployed servers.",
    async run(probe) {
      await run(probe, "", { input: [] });
    },
  },
  {
    key: "runs:unknown-members",
    capability: "round-trip",
    source: `${SDK} models/models.py extra="allow"`,
    behaviour: "Unknown members are accepted, on the request and on parts.",
    async run(probe) {
      const part = { content_type: "text/plain", content: "hello", "x-of-mine": { deep: [1] } };
      await run(probe, "", { input: [{ role: "user", parts: [part] }], "x-of-mine": true });
    },
  },
  {
    key: "runs:unknown-agent",
    capability: "connectivity",
    source: `${OPENAPI} POST /runs 404`,
    behaviour: "A run of an unknown agent is not found, in every mode.",
    async run(probe) {
      const agent_name = `none-${probe.subject.newId()}`;
      for (const mode of ["sync", "async", "stream"])
        demandRefusal(await post(probe, "/runs", runBody(probe, "hello", { agent_name, mode })), [404], "not_found");
    },
  },
];
