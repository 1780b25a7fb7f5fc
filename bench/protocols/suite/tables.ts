import type { Table } from "../../harness/table.js";
import { successTable, timeTable } from "../docqa/result/docqa-tables.js";
import { paperPanels } from "../report/paper-tables.js";
import { recoveryTable } from "../report/storm-tables.js";
import { conditionViews } from "../report/view.js";
import type { BenchResult } from "../result/index.js";
import { patternTable } from "../router-loop/router-tables.js";
import { matrixTable } from "../safety/report/tables.js";
import { crossModelTable } from "./cross-model.js";
import { protocolTable, scenarioTable } from "./overview-tables.js";
import { ROUTER_PART, type SuiteResults } from "./read-parts.js";
import { accuracyTable, levelsTable } from "./router-accuracy.js";
import { executionTable } from "./router-execution.js";
import type { Suite } from "./suite.js";

/** One table of the paper. */
export interface PaperTable {
  /** As the paper numbers it: `3a`. */
  readonly number: string;
  readonly title: string;
  /** The parts of the suite that it is made from. */
  readonly parts: readonly string[];
  /** Undefined: its parts were not measured. */
  readonly table: Table | undefined;
}

/** The part of a suite in which each table is measured; further ones are looked at if the first was not. */
const QUEUE = "streaming-queue";
const SCALE = "queue-scale";
const MODELS = "queue-models";
const DOCQA = "docqa";
const STORM = "fail-storm";
const SAFETY = "safety";

/** Generated from the codecs, and checked against them. */
const ALIGNMENT: Table = {
  title: "Field alignment",
  head: ["where", "what"],
  rows: [["docs/protocols.md, field alignment", "where each field of an envelope goes in each protocol, from its codec"]],
};

/** The paper's tables in its layout, with its figures beside ours. */
export function paperTables(results: SuiteResults, suite: Pick<Suite, "choice">): readonly PaperTable[] {
  const { benches, safety, accuracy } = results;
  const docqa = benches.get(DOCQA);
  const storm = benches.get(STORM);
  const queue = queueTables(benches.get(QUEUE));
  const scale = queueTables(benches.get(SCALE) ?? benches.get(QUEUE));
  const models = benches.get(MODELS);
  const stormView = storm === undefined ? undefined : conditionViews(storm)[0];
  return [
    { number: "1", title: "Protocols", parts: [], table: protocolTable() },
    { number: "2", title: "Scenarios", parts: [], table: scenarioTable(results) },
    { number: "3a", title: "GAIA: document questions", parts: [DOCQA], table: ofDocqa(docqa, successTable) },
    { number: "3a, trials", title: "Time of single tasks", parts: [DOCQA], table: ofDocqa(docqa, timeTable) },
    { number: "3b", title: "Fail-Storm Recovery", parts: [STORM], table: stormView && recoveryTable(stormView) },
    { number: "3c", title: "Streaming Queue", parts: [QUEUE], table: queue.get("paper-3c") },
    { number: "3d", title: "Safety Tech", parts: [SAFETY], table: safety && matrixTable(safety) },
    { number: "4", title: "Streaming Queue with intervals", parts: [QUEUE], table: queue.get("paper-4") },
    { number: "5", title: "Streaming Queue scale-up", parts: [SCALE, QUEUE], table: scale.get("paper-5") },
    { number: "6", title: "Router selection", parts: [ROUTER_PART], table: accuracy && accuracyTable(accuracy) },
    {
      number: "7",
      title: "Router execution",
      parts: [DOCQA, QUEUE, STORM, SAFETY],
      table: executionTable([docqa, benches.get(QUEUE), storm], safety),
    },
    { number: "8", title: "Router benchmark", parts: [ROUTER_PART], table: accuracy && levelsTable(accuracy) },
    { number: "9", title: "Router assignment patterns", parts: [DOCQA], table: docqa && patternTable(docqa) },
    { number: "10", title: "Streaming Queue, every pair", parts: [QUEUE], table: queue.get("paper-10") },
    { number: "11", title: "Other models", parts: [MODELS], table: models && crossModelTable(models, serviceMs(suite)) },
    { number: "12", title: "Field alignment", parts: [], table: ALIGNMENT },
  ];
}

function serviceMs({ choice }: Pick<Suite, "choice">): number | undefined {
  const seconds = choice.parameters["service"];
  return seconds === undefined ? undefined : (1_000 * seconds) / choice.timeScale;
}

function queueTables(result: BenchResult | undefined): ReadonlyMap<string, Table> {
  if (result === undefined) return new Map();
  const panels = paperPanels(conditionViews(result), result.plan.settings.agents);
  return new Map(panels.map(({ id, table }) => [id, table]));
}

function ofDocqa(result: BenchResult | undefined, table: typeof successTable): Table | undefined {
  const condition = result?.plan.conditions[0]?.id;
  return result?.docqa === undefined || condition === undefined ? undefined : table(result.docqa, result.plan, condition);
}
