import type { Table } from "../../harness/table.js";
import type { Victim } from "../result/storm-schema.js";
import { average } from "./storm-tables.js";
import type { ArmView, ConditionView } from "./view.js";

const US_PER_MS = 1_000;

/**
 * What it costs and brings that a killed agent gets its state back: every arm with each source of state, under the same storm. Undefined
 * where only one was measured.
 */
export function recoveryCostTable(views: readonly ConditionView[]): Table | undefined {
  const sources = views.filter(({ condition }) => condition.recovery !== undefined && condition.faults[0]?.kind === "kill");
  if (new Set(sources.map(({ condition }) => condition.recovery)).size < 2) return undefined;
  const [first] = sources;
  return {
    title: "Recovery of state: what it costs, and what it brings",
    head: [
      "arm",
      "state from",
      "state back (ms)",
      "state bytes",
      "texts back",
      "start (ms)",
      "listening to first work (ms)",
      "reconnect bytes",
      "right after (%)",
      "retention (%)",
      "lost",
    ],
    rows: (first?.arms ?? []).flatMap(({ arm }) =>
      sources.flatMap(({ condition, arms }) =>
        arms.filter((each) => each.arm.id === arm.id).map((view) => [arm.id, condition.recovery ?? "", ...cells(view)]),
      ),
    ),
    note:
      "The same storm for every source. off: a killed agent comes back without its texts, so right answers stay lower by its share of them; what it saves is " +
      "the time and the bytes of the other rows.",
  };
}

function cells({ runs }: ArmView): readonly string[] {
  const storms = runs.flatMap(({ storm }) => storm ?? []);
  const cycles = storms.flatMap((storm) => storm.cycles);
  const victims = cycles.flatMap((cycle) => cycle.victims);
  const ms = (of: (victim: Victim) => number | null | undefined) => average(victims.map(of), US_PER_MS);
  const ends = cycles.map(({ paper }) => paper.post).filter(({ ended }) => ended > 0);
  return [
    ms(({ restored }) => restored?.us),
    average(victims.map(({ restored }) => restored?.bytes)),
    average(victims.map(({ restored }) => restored?.fragments)),
    ms(({ startUs }) => startUs),
    ms(({ usefulUs }) => usefulUs),
    average(victims.map(({ reconnect }) => reconnect && reconnect.sent + reconnect.received)),
    average(ends.map(({ right, ended }) => (100 * right) / ended)),
    average(cycles.map(({ retention }) => retention && 100 * retention)),
    String(storms.reduce((sum, { lost }) => sum + lost, 0)),
  ];
}
