import type { Scenario } from "./scenario.js";

/** A coordinator with a queue of questions, and workers that take the next one as soon as they are free. */
export const streamingQueue: Scenario = {
  name: "streaming-queue",
  about: "a coordinator and workers that share one queue of questions: latency and balance under load",
  primary: "p95Us",
  marginUs: 2_500,
  doseMs: 5,
  agents: 4,
  dispatch: "queue",
  answers: "scripted",
  prompts: { system: "queue-worker.v1", task: "queue-coordinator.v1" },
  // Which worker gets an entry.
  canFreeze: ["topology"],
  quick: { runs: 3, warmUpMs: 300, measureMs: 60_000, requests: 200 },
  full: { runs: 10, warmUpMs: 2_000, measureMs: 600_000, requests: 1_000 },
};
