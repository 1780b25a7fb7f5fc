import type { Scenario } from "./scenario.js";

/** A ring of agents that answer questions together, while some of them are killed and come back. */
export const failStorm: Scenario = {
  name: "fail-storm",
  about: "a ring of agents that answer questions together while some are killed: recovery, retention, lost messages",
  primary: "recoveryUs",
  marginUs: 25_000,
  doseMs: 50,
  agents: 8,
  dispatch: "ring",
  topology: "mesh",
  behaviour: "shard-ring",
  answers: "null",
  quick: { runs: 3, warmUpMs: 500, measureMs: 4_000, requests: 1_000_000 },
  full: { runs: 10, warmUpMs: 2_000, measureMs: 16_000, requests: 1_000_000 },
};
