import type { JsonObject } from "../../../envelope/index.js";
import { demand, demandObject, demandString, show } from "../../check.js";
import { type AgoraRequirement, demandRefused, further, natural, openConversation, type Probe, say } from "./probe.js";
import type { Reply } from "./reply.js";

const SEED = "seed G.7: task-level receipts";

/** The task of a reply. Only Koine servers send it, and only to callers that send Koine metadata. */
function receiptOf({ json }: Reply): { readonly id: string; readonly state: unknown } {
  const receipt = demandObject(demandObject(json["metadata"], "metadata")["receipt"], "metadata.receipt");
  return { id: demandString(receipt["id"], "metadata.receipt.id"), state: receipt["state"] };
}

const atOnce = (more: JsonObject = {}): JsonObject => ({ metadata: { koine: 1, prefer: "receipt", ...more } });
const about = (id: string): JsonObject => ({ metadata: { koine: 1, receipt: { id } } });

/** A conversation with a task that runs until it is cancelled. */
async function longWork(probe: Probe): Promise<{ readonly conversation: string; readonly id: string }> {
  const reply = await openConversation(probe, "conform: wait", atOnce());
  return { conversation: reply.id, id: receiptOf(reply).id };
}

function stop(probe: Probe, conversation: string, id: string): Promise<Reply> {
  return further(probe, conversation, "", { metadata: { koine: 1, cancel: id } });
}

/** Tasks that outlive a reply: a Koine extension. */
export const receiptRequirements: readonly AgoraRequirement[] = [
  {
    key: "receipt:at-once",
    capability: "long-running",
    source: SEED,
    behaviour: "A request that prefers a receipt gets one at once, with the id and the state of the task.",
    needs: ["koine", "commands"],
    async run(probe) {
      const reply = await openConversation(probe, "conform: wait", atOnce());
      const { id, state } = receiptOf(reply);
      demand(state === "submitted" || state === "working", `the state is ${show(state)}`);
      demandString(reply.text, "body");
      await stop(probe, reply.id, id);
    },
  },
  {
    key: "receipt:collected",
    capability: "long-running",
    source: SEED,
    behaviour: "The id of a receipt can be queried repeatedly; a finished task is answered with its result.",
    needs: ["koine", "commands"],
    async run(probe) {
      const reply = await openConversation(probe, "conform: task", atOnce());
      const { id } = receiptOf(reply);
      const texts: string[] = [];
      for (let turn = 0; turn < 50 && texts.length < 2; turn++) {
        const observed = await further(probe, reply.id, "", about(id));
        demand(observed.status === "success", `answered ${show(observed.json)}`);
        if (receiptOf(observed).state === "completed") texts.push(observed.text);
      }
      demand(texts.length === 2 && texts.every((text) => text.includes("done")), `collected ${show(texts)}`);
    },
  },
  {
    key: "receipt:again",
    capability: "long-running",
    source: SEED,
    behaviour: "An unfinished task is answered with its receipt again.",
    needs: ["koine", "commands"],
    async run(probe) {
      const { conversation, id } = await longWork(probe);
      const again = receiptOf(await further(probe, conversation, "", about(id)));
      demand(again.id === id, `it names ${show(again.id)}`);
      await stop(probe, conversation, id);
    },
  },
  {
    key: "receipt:cancelled",
    capability: "long-running",
    source: SEED,
    behaviour: "A task is cancelled by its receipt.",
    needs: ["koine", "commands"],
    async run(probe) {
      const { conversation, id } = await longWork(probe);
      const { state } = receiptOf(await stop(probe, conversation, id));
      demand(state === "canceled", `the state is ${show(state)}`);
    },
  },
  {
    key: "receipt:unknown",
    capability: "security",
    source: SEED,
    behaviour: "An unknown receipt is rejected.",
    needs: ["koine", "commands"],
    async run(probe) {
      const { id } = await openConversation(probe);
      demandRefused((await further(probe, id, "", about(probe.subject.newId()))).got);
    },
  },
  {
    key: "receipt:idempotent",
    capability: "long-running",
    source: "seed 000, Table 8: idempotency_key",
    behaviour: "The same message with the same idempotency key is executed once: both replies name the same task.",
    needs: ["koine", "commands"],
    async run(probe) {
      const key = { metadata: { koine: 1, idempotency_key: probe.subject.newId() } };
      const ids: string[] = [];
      for (let turn = 0; turn < 2; turn++) ids.push(receiptOf(await say(probe, natural("conform: task", key))).id);
      demand(ids[0] === ids[1], `the tasks are ${show(ids)}`);
    },
  },
];
