import type { Panel } from "./panel.js";
import { STORM_LEGEND, stormChart } from "./storm-chart.js";
import { lossTable, problemTable, recoveryTable, splitTable } from "./storm-tables.js";
import type { ConditionView } from "./view.js";

/** What a storm of faults did, in the paper's terms and in finer ones. */
export function stormPanels(view: ConditionView, number: number): readonly Panel[] {
  const hasRuns = view.arms.some(({ runs }) => runs.some(({ storm }) => storm !== undefined));
  return [
    {
      id: `storm-${number}`,
      title: "Before and after the storm",
      sentence:
        "Right answers per second of the first run of each arm. A line is a fault; a dashed one is the moment when every victim works again.",
      ...(hasRuns ? { chart: { svg: () => stormChart(view), legend: STORM_LEGEND } } : {}),
      table: recoveryTable(view),
    },
    {
      id: `split-${number}`,
      title: "Where the recovery goes",
      sentence: "From the fault to the first right answer through each victim.",
      table: splitTable(view),
    },
    {
      id: `loss-${number}`,
      title: "What was lost, and what it cost",
      sentence: "Questions by their idempotency key, and what victims needed to come back.",
      table: lossTable(view),
    },
    {
      id: `paper-${number}`,
      title: "The paper's figures",
      sentence: "Why the published figures of this scenario are no measure of a protocol, and what is measured here instead.",
      table: problemTable(),
    },
  ];
}
