import { begin } from "../../ask.js";
import { demand, show } from "../../check.js";
import { type AgoraRequirement, natural, post, sendMessage, stillServes } from "./probe.js";
import { isReply, readReply } from "./reply.js";

const PARALLEL = 30;
const LARGE_CHARACTERS = 256 * 1024;
/** Above the expected limit of servers, but cheap to send. */
const OVERSIZED_CHARACTERS = 20 * 1024 * 1024;

/** Limits: size, number, malformed lines. */
export const edgeRequirements: readonly AgoraRequirement[] = [
  {
    key: "edge:large",
    capability: "edge-cases",
    level: "should",
    source: "seed G.6, capability 6",
    behaviour: "A message of 256 KiB is answered, or rejected because of its size.",
    async run(probe) {
      const got = await post(probe, natural("x".repeat(LARGE_CHARACTERS)));
      demand(isReply(got), `answered ${got.status} ${show(got.text)}`);
      demand(readReply(got).status === "success" || got.status === 413, `answered ${got.status} ${show(got.json)}`);
    },
  },
  {
    key: "edge:oversized",
    capability: "edge-cases",
    source: "RFC 9110 §15.5.14",
    behaviour: "A message of 20 MB is accepted or rejected, and the server stays available.",
    async run(probe) {
      // Closing the connection while the body is being sent is also a rejection.
      const got = await post(probe, natural("x".repeat(OVERSIZED_CHARACTERS))).catch(() => undefined);
      demand(got === undefined || got.status < 500, `answered ${got?.status}`);
      await stillServes(probe);
    },
  },
  {
    key: "edge:parallel",
    capability: "edge-cases",
    source: "seed G.6, capability 6",
    behaviour: "30 messages at once are all answered.",
    async run(probe) {
      const all = await Promise.all(Array.from({ length: PARALLEL }, (_, index) => sendMessage(probe, `number ${index}`)));
      for (const [index, { text }] of all.entries())
        demand(!probe.commands || text.includes(`number ${index}`), `number ${index} was answered ${show(text)}`);
    },
  },
  {
    key: "edge:hang-up",
    capability: "edge-cases",
    source: "seed G.6, capability 6",
    behaviour: "A caller that disconnects before the answer has no effect on others.",
    async run(probe) {
      const body = JSON.stringify(natural("hello"));
      const request = begin(probe.subject, {
        method: "POST",
        url: probe.url,
        headers: { "content-type": "application/json" },
        body,
      });
      request.close();
      await request.opened.catch(() => undefined);
      await stillServes(probe);
    },
  },
];
