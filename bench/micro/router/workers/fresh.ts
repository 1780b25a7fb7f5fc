import { answerCommands } from "../../../harness/worker.js";
import { held } from "../held.js";
import type { Load } from "../workload.js";

/** A new process for one first decision. Nothing of the package may be loaded before the request. */

answerCommands({ decideFirst });

/** `record` is one scenario as a file has it. */
async function decideFirst(record: unknown): Promise<Load> {
  const before = await held();
  const start = performance.now();
  const { readScenarios, route } = await import("../../../../src/router/index.js");
  const loaded = performance.now();
  const { scenarios } = readScenarios(record);
  const asked = performance.now();
  const { decisions } = await route(scenarios);
  const decided = performance.now();
  if (decisions.length === 0) throw new Error("nothing was decided");
  const after = await held();
  return {
    importMs: loaded - start,
    firstDecisionMs: decided - asked,
    heapMb: after.heapMb - before.heapMb,
    rssMb: after.rssMb - before.rssMb,
  };
}
