import { demand, demandString, show } from "../../check.js";
import {
  ASYNC,
  accepted,
  demandPlainError,
  G2,
  G7,
  overIn,
  type PlainRequirement,
  request,
  resultText,
  statusOf,
  streamOf,
} from "./plain-probe.js";
import { get, post } from "./probe.js";

/** Jobs: polled and streamed. */
export const plainJobRequirements: readonly PlainRequirement[] = [
  {
    key: "job:accepted",
    capability: "long-running",
    source: G2,
    behaviour: "A notification, and a request for asynchronous execution, are accepted with 202 and a job id.",
    async run(probe) {
      for (const more of [{ type: "notification" }, ASYNC]) {
        const reply = await accepted(probe, request(probe, "hello", more));
        demand(reply["status"] === "accepted", `status is ${show(reply["status"])}`);
        demandString(reply["job_id"], "job_id");
        demandString(reply["correlation_id"], "correlation_id");
      }
    },
  },
  {
    key: "job:result",
    capability: "long-running",
    commanded: true,
    source: G2,
    behaviour: "GET /acp/status?run_id= returns the state and the result of a job.",
    async run(probe) {
      const { job_id: id } = await accepted(probe, request(probe, "conform: task", ASYNC));
      const done = await overIn(probe, id);
      demand(done["status"] === "completed", `the job is ${show(done["status"])}`);
      demand(done["run_id"] === id, `run_id is ${show(done["run_id"])}`);
      demand(resultText(done).includes("done"), `the results are ${show(done["results"])}`);
    },
  },
  {
    key: "job:running",
    capability: "long-running",
    commanded: true,
    source: G2,
    behaviour: "A running job has no results.",
    async run(probe) {
      const { job_id: id } = await accepted(probe, request(probe, "conform: wait", ASYNC));
      const { status } = await statusOf(probe, id);
      await post(probe, `/runs/${id}/cancel`, undefined);
      demand(status === "created" || status === "in-progress", `the job is ${show(status)}`);
    },
  },
  {
    key: "job:unknown",
    capability: "long-running",
    source: G2,
    behaviour: "An unknown job is not found.",
    async run(probe) {
      demandPlainError(await get(probe, `/acp/status?run_id=${probe.subject.newId()}`), [404]);
    },
  },
  {
    key: "idempotency:key",
    capability: "edge-cases",
    source: G7,
    behaviour: "The same message with the same idempotency key is one job.",
    async run(probe) {
      const metadata = { async: true, idempotency_key: probe.subject.newId() };
      const body = request(probe, "hello", { metadata });
      const [first, second] = [await accepted(probe, body), await accepted(probe, body)];
      demand(first["job_id"] === second["job_id"], `two jobs: ${show(first["job_id"])} and ${show(second["job_id"])}`);
    },
  },
  {
    key: "idempotency:not-correlation",
    capability: "edge-cases",
    source: G7,
    behaviour: "Two messages with the same correlation id are two jobs.",
    async run(probe) {
      const correlation_id = probe.subject.newId();
      const first = await accepted(probe, request(probe, "hello", { ...ASYNC, correlation_id }));
      const second = await accepted(probe, request(probe, "hello again", { ...ASYNC, correlation_id }));
      demand(first["job_id"] !== second["job_id"], "the second message was dropped");
    },
  },
  {
    key: "stream:asked-for",
    capability: "streaming",
    source: G7,
    behaviour:
      "Results come as server-sent events if the message or the Accept header requests them; the last has the final state.",
    async run(probe) {
      for (const [more, headers] of [[{ stream: true }, {}] as const, [{}, { accept: "text/event-stream" }] as const]) {
        const last = (await streamOf(probe, request(probe, "hello", more), headers)).at(-1);
        demand(last?.["type"] === "status" && last["status"] === "completed", `the last event is ${show(last)}`);
      }
    },
  },
  {
    key: "stream:order",
    capability: "streaming",
    commanded: true,
    source: G7,
    behaviour: "Streamed results come in order.",
    async run(probe) {
      const items = await streamOf(probe, request(probe, "conform: stream 3", { stream: true }), {});
      const text = items.filter(({ type }) => type === "text").map(({ content }) => content);
      demand(text.join("|") === "chunk 1 |chunk 2 |chunk 3 ", `the results are ${show(text)}`);
    },
  },
];
