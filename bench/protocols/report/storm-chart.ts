import * as Plot from "@observablehq/plot";
import { draw } from "./draw.js";
import type { ConditionView } from "./view.js";

const ROW = 110;
const US_PER_S = 1_000_000;

/** Right answers of every second in the first run of each arm, with the moments of the faults and of the recoveries. */
export function stormChart({ arms }: ConditionView): string {
  const shown = arms.flatMap(({ arm, runs }) => {
    const storm = runs.find((run) => run.storm !== undefined)?.storm;
    return storm === undefined ? [] : [{ arm: arm.id, storm }];
  });
  const seconds = shown.flatMap(({ arm, storm }) =>
    // The last second is cut by the end of the run.
    storm.timeline.slice(0, -1).map(({ second, right, other }) => ({ arm, second: second + 0.5, right, other })),
  );
  const kills = shown.flatMap(({ arm, storm }) => storm.cycles.map(({ atS }) => ({ arm, at: atS })));
  const back = shown.flatMap(({ arm, storm }) =>
    storm.cycles.flatMap(({ atS, recoveryUs }) => (recoveryUs === null ? [] : { arm, at: atS + recoveryUs / US_PER_S })),
  );
  return draw({
    label: "Right answers per second of each arm over time, with a line at every fault and a dashed one at every recovery.",
    options: {
      marginLeft: 50,
      marginRight: 130,
      height: 70 + ROW * Math.max(1, shown.length),
      x: { label: "seconds of the measured window" },
      y: { label: "right answers per second", grid: true, ticks: 4, nice: true },
      fy: { label: null, domain: shown.map(({ arm }) => arm), padding: 0.15 },
      marks: [
        Plot.areaY(seconds, { x: "second", y: "right", fy: "arm", fill: "var(--good)", fillOpacity: 0.25, curve: "step" }),
        Plot.lineY(seconds, { x: "second", y: "right", fy: "arm", stroke: "var(--good)", curve: "step" }),
        Plot.lineY(seconds, {
          x: "second",
          y: "other",
          fy: "arm",
          stroke: "var(--ink-quiet)",
          strokeDasharray: "2 3",
          curve: "step",
        }),
        Plot.ruleX(kills, { x: "at", fy: "arm", stroke: "var(--accent)", strokeWidth: 2 }),
        Plot.ruleX(back, { x: "at", fy: "arm", stroke: "var(--accent)", strokeWidth: 1.5, strokeDasharray: "4 3" }),
      ],
    },
  });
}

export const STORM_LEGEND = [
  { name: "right answers", colour: "var(--good)" },
  { name: "other ends", colour: "var(--ink-quiet)", dash: "2 3" },
  { name: "fault", colour: "var(--accent)" },
  { name: "last victim works again", colour: "var(--accent)", dash: "4 3" },
] as const;
