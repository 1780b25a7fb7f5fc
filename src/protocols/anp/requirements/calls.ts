import { demand, demandArray, demandObject, demandString, show, skip } from "../../check.js";
import { ASK, METHODS } from "../wire.js";
import { type AnpRequirement, call, events, failure, frames, type Probe, postText, result, sending } from "./probe.js";

const OWN = "Koine's methods, docs/anp.md";

/** Starts a task that runs until it is cancelled, and returns its id. */
async function started(probe: Probe): Promise<string> {
  const { task } = await result(probe, METHODS.send, sending("conform: wait", { delivery: "accepted", task: "always" }));
  return demandString(demandObject(task, "task")["id"], "task.id");
}

/** Messages, streams and tasks. */
export const callRequirements: readonly AnpRequirement[] = [
  {
    key: "ask:text",
    capability: "round-trip",
    source: OWN,
    behaviour: "The method ask answers a text with a text.",
    needs: ["koine"],
    async run(probe) {
      demandString((await result(probe, ASK, { text: "hello" }))["text"], "text");
    },
  },
  {
    key: "send:answer",
    capability: "round-trip",
    source: OWN,
    behaviour: "A message is answered with a message or a task.",
    needs: ["koine"],
    async run(probe) {
      const event = await result(probe, METHODS.send, sending("hello"));
      demand(event["message"] !== undefined || event["task"] !== undefined, `answered ${show(event)}`);
    },
  },
  {
    key: "send:id",
    capability: "round-trip",
    source: "JSON-RPC 2.0 §5",
    behaviour: "The answer has the id of the request.",
    needs: ["koine"],
    async run(probe) {
      const got = await call(probe, METHODS.ping, {});
      demand(typeof demandObject(got.json, "the answer")["id"] === "string", `id is ${show(got.json)}`);
    },
  },
  {
    key: "card:answers",
    capability: "round-trip",
    source: OWN,
    behaviour: "The card has the name of the description.",
    needs: ["koine"],
    async run(probe) {
      const card = demandObject((await result(probe, METHODS.card, {}))["card"], "card");
      demand(card["name"] === probe.description["name"], `name is ${show(card["name"])}`);
    },
  },
  {
    key: "stream:events",
    capability: "streaming",
    source: OWN,
    behaviour: "A streamed message is answered with server-sent events, each a notification with one event.",
    needs: ["koine"],
    async run(probe) {
      const got = await events(probe, METHODS.send, sending("hello", { delivery: "stream" }));
      demand(got.length > 0, "there is no event");
    },
  },
  {
    key: "stream:framing",
    capability: "streaming",
    source: "WHATWG HTML §9.2",
    behaviour: "Every event is one line of data.",
    needs: ["koine"],
    async run(probe) {
      for await (const { dataLines, unknownLines } of await frames(probe, METHODS.send, sending("hello", { delivery: "stream" })))
        demand(dataLines === 1 && unknownLines.length === 0, `${dataLines} lines of data, foreign: ${show(unknownLines)}`);
    },
  },
  {
    key: "stream:task-first",
    capability: "streaming",
    source: OWN,
    behaviour: "The stream of a task begins with the task and ends when it has.",
    needs: ["koine", "commands"],
    async run(probe) {
      const got = await events(probe, METHODS.send, sending("conform: stream 3", { delivery: "stream", task: "always" }));
      demand(got[0]?.["task"] !== undefined, `it begins with ${show(got[0])}`);
      const status = demandObject(got.at(-1)?.["status"], "the last status");
      demand(status["state"] === "completed", `it ends with ${show(status)}`);
    },
  },
  {
    key: "task:get",
    capability: "long-running",
    source: OWN,
    behaviour: "A task that was accepted can be looked up.",
    needs: ["koine", "commands"],
    async run(probe) {
      const taskId = await started(probe);
      const { task } = await result(probe, METHODS["task.get"], { taskId });
      demand(demandObject(task, "task")["id"] === taskId, `got ${show(task)}`);
      await call(probe, METHODS["task.cancel"], { taskId });
    },
  },
  {
    key: "task:list",
    capability: "long-running",
    source: OWN,
    behaviour: "A task that was accepted is listed.",
    needs: ["koine", "commands"],
    async run(probe) {
      const taskId = await started(probe);
      const { tasks } = await result(probe, METHODS["task.list"], {});
      const ids = demandArray(tasks, "tasks").map((task) => demandObject(task, "task")["id"]);
      await call(probe, METHODS["task.cancel"], { taskId });
      demand(ids.includes(taskId), "the task is not listed");
    },
  },
  {
    key: "task:cancel",
    capability: "long-running",
    source: OWN,
    behaviour: "A running task can be cancelled.",
    needs: ["koine", "commands"],
    async run(probe) {
      const taskId = await started(probe);
      const { task } = await result(probe, METHODS["task.cancel"], { taskId });
      const { state } = demandObject(demandObject(task, "task")["status"], "status");
      demand(state === "canceled" || state === "canceling", `its state is ${show(state)}`);
    },
  },
  {
    key: "task:unknown",
    capability: "long-running",
    source: OWN,
    behaviour: "A task that does not exist is refused as not found.",
    needs: ["koine"],
    async run(probe) {
      const error = await failure(await call(probe, METHODS["task.get"], { taskId: probe.subject.newId() }));
      demand(demandObject(error["data"], "data")["anp_code"] === "anp.target_not_found", `answered ${show(error)}`);
    },
  },
  {
    key: "negotiate:deterministic",
    capability: "round-trip",
    source: "ANP-06 1.2, anp.negotiate",
    behaviour: "The same negotiation gets the same selection, and one without anything in common is rejected.",
    needs: ["koine"],
    async run(probe) {
      const params = { meta: META, body: { negotiation_id: "n-1", intent: { name: "talk" } } };
      const [one, two] = [await result(probe, "anp.negotiate", params), await result(probe, "anp.negotiate", params)];
      demand(one["status"] === "accepted", `answered ${show(one)}`);
      demand(one["negotiationDigest"] === two["negotiationDigest"], "the digests differ");
      const body = { intent: { name: "talk" }, constraints: { requiredSecurityProfile: "group-e2ee" } };
      const none = await result(probe, "anp.negotiate", { meta: META, body });
      demand(none["status"] === "rejected", `answered ${show(none)}`);
    },
  },
  {
    key: "capabilities:anonymous",
    capability: "round-trip",
    source: "ANP messaging P1, anp.get_capabilities",
    behaviour: "The capabilities name profiles, security profiles and content types.",
    needs: ["koine"],
    async run(probe) {
      const got = await result(probe, "anp.get_capabilities", {});
      for (const name of ["supported_profiles", "supported_security_profiles", "supported_content_types"])
        demand(demandArray(got[name], name).length > 0, `${name} is empty`);
    },
  },
  {
    key: "plain:message",
    capability: "round-trip",
    level: "should",
    source: "seed G.7",
    behaviour: "The plain endpoint answers a message with its request id.",
    async run(probe) {
      const { origin } = new URL(probe.at);
      const body = { type: "anp_message", request_id: "r-1", payload: { text: "hello" }, timestamp: 1, source_id: "conform" };
      const plain = { ...probe, rpc: `${origin}/anp/message` };
      const got = await postText(plain, JSON.stringify(body));
      if (got.status === 404) skip("there is no plain endpoint");
      const answer = demandObject(got.json, "the answer");
      demand(answer["request_id"] === "r-1", `request_id is ${show(answer["request_id"])}`);
      demandObject(answer["payload"], "payload");
    },
  },
];

const META = { profile: "anp.meta.negotiation.v1", security_profile: "transport-protected" } as const;
