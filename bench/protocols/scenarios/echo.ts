import type { Scenario } from "./scenario.js";

/** One question, one answer. The smallest scenario that goes through the whole harness. */
export const echo: Scenario = {
  name: "echo",
  about: "one request, one answer of the same text: what a protocol costs by itself",
  primary: "overheadP50Us",
  marginUs: 2_500,
  doseMs: 5,
  agents: 1,
  dispatch: "turns",
  answers: "null",
  quick: { runs: 3, warmUpMs: 300, measureMs: 3_000, requests: 200 },
  full: { runs: 10, warmUpMs: 2_000, measureMs: 10_000, requests: 2_000 },
};
