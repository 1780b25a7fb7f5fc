import type { Scenario } from "./scenario.js";

/** Teams of agents, each with tools of its own, that answer questions about documents by sending each other what they find. */
export const docqa: Scenario = {
  name: "docqa",
  about: "teams of 2, 4 or 8 agents answer questions about documents: how often they are right, and what their messages cost",
  primary: "p50Us",
  marginUs: 25_000,
  doseMs: 50,
  agents: 8,
  dispatch: "named",
  topology: "mesh",
  behaviour: "docqa",
  answers: "null",
  quick: { runs: 3, warmUpMs: 500, measureMs: 120_000, requests: 6 },
  full: { runs: 10, warmUpMs: 3_000, measureMs: 1_200_000, requests: 36 },
};
