import * as Plot from "@observablehq/plot";
import type { Comparison } from "../result/index.js";
import { conclusionOf } from "../statistics/index.js";
import { draw } from "./draw.js";
import { type ConditionView, distributionOf } from "./view.js";
import { heading, METRIC_WORDS } from "./words.js";

const ROW = 40;
const EDGE = { marginLeft: 130, marginRight: 40 } as const;
const MS_PER_US = 1 / 1_000;

type Styled = readonly { readonly name: string; readonly colour: string; readonly symbol?: string }[];

const coloursOf = ({ arms }: ConditionView): Styled =>
  arms.map(({ arm, style }) => ({ name: arm.id, colour: style.colour, symbol: style.symbol }));

function colourScale(styles: Styled): Plot.ScaleOptions {
  return { domain: styles.map(({ name }) => name), range: styles.map(({ colour }) => colour) };
}

/** The metric that decides: every run as a dot, the mean with its interval. */
export function estimateChart(view: ConditionView): string {
  const { title, scale } = METRIC_WORDS[view.primary];
  const found = view.arms.map(({ arm, summary }) => ({ arm: arm.id, ...summary.metrics[view.primary] }));
  const means = found.flatMap(({ arm, mean, low, high }) =>
    mean === null ? [] : [{ arm, mean: mean * scale, low: (low ?? mean) * scale, high: (high ?? mean) * scale }],
  );
  const runs = found.flatMap(({ arm, values }) => values.map((value) => ({ arm, value: value * scale })));
  return draw({
    label: `${title} of each arm: every run as a dot, the mean with its 95 % interval. The table below has the numbers.`,
    options: {
      ...EDGE,
      height: 70 + ROW * found.length,
      x: { label: heading(view.primary), grid: true, nice: true, inset: 12 },
      y: { label: null, domain: found.map(({ arm }) => arm), tickSize: 0 },
      color: colourScale(coloursOf(view)),
      marks: [
        Plot.dot(runs, { x: "value", y: "arm", fill: "arm", fillOpacity: 0.4, r: 3, dy: 11 }),
        Plot.ruleY(means, { x1: "low", x2: "high", y: "arm", stroke: "arm", strokeWidth: 3 }),
        Plot.dot(means, { x: "mean", y: "arm", fill: "arm", r: 4.5, title: ({ arm, mean }) => `${arm}: ${mean.toPrecision(3)}` }),
      ],
    },
  });
}

/** The pairwise differences with their intervals, and the margin within which arms count as equal. */
export function forestChart(view: ConditionView, pairs: readonly Comparison[], marginUs: number): string {
  const { scale, unit } = METRIC_WORDS[view.primary];
  const rows = pairs.flatMap((pair) =>
    pair.shift === null
      ? []
      : [
          {
            pair: `${pair.a} − ${pair.b}`,
            shift: pair.shift * scale,
            low: (pair.low ?? pair.shift) * scale,
            high: (pair.high ?? pair.shift) * scale,
            tone: TONES[conclusionOf(pair)],
          },
        ],
  );
  const margin = marginUs * scale;
  const reach = Math.max(...rows.flatMap(({ low, high }) => [-low, high]), unit === "ms" ? margin : 0) * 1.05;
  return draw({
    label: "The difference of each pair of arms with its 95 % interval. The table below has the numbers.",
    options: {
      ...EDGE,
      marginLeft: 190,
      height: 70 + 26 * rows.length,
      x: { label: `difference of the ${heading(view.primary)}`, grid: true, domain: [-reach, reach] },
      y: { label: null, domain: rows.map(({ pair }) => pair), tickSize: 0 },
      marks: [
        ...(unit === "ms" ? [Plot.rectX([0], { x1: -margin, x2: margin, fill: "var(--band)" })] : []),
        Plot.ruleX([0], { stroke: "var(--ink-soft)" }),
        Plot.ruleY(rows, { x1: "low", x2: "high", y: "pair", stroke: "tone", strokeWidth: 2.5 }),
        Plot.dot(rows, { x: "shift", y: "pair", fill: "tone", r: 4.5 }),
      ],
      color: { type: "identity" },
    },
  });
}

const TONES = {
  different: "var(--accent)",
  "different, within the margin": "var(--accent)",
  equal: "var(--good)",
  undecided: "var(--ink-quiet)",
} as const;

/** Which share of the requests was answered within which time. */
export function ecdfChart(view: ConditionView): string {
  const points = view.arms.flatMap(distributionOf).map((point) => ({ ...point, ms: point.us * MS_PER_US }));
  return draw({
    label: "The share of requests answered within a time, one curve per arm. The table of percentiles has the numbers.",
    options: {
      marginRight: 90,
      height: 340,
      x: { type: "log", label: "latency (ms)", grid: true },
      y: { label: "answered within this time (%)", percent: true, grid: true, domain: [0, 100] },
      color: colourScale(coloursOf(view)),
      marks: view.arms.flatMap(({ arm, style }) => {
        const own = points.filter((point) => point.arm === arm.id);
        return [Plot.line(own, { x: "ms", y: "share", stroke: style.colour, strokeWidth: 2, strokeDasharray: style.dash })];
      }),
    },
  });
}

/** The tail: latency by percentile, stretched towards 100 %. */
export function percentileChart(view: ConditionView): string {
  const points = view.arms
    .flatMap(distributionOf)
    .filter(({ share }) => share < 1)
    .map((point) => ({ ...point, nines: 1 / (1 - point.share), ms: point.us * MS_PER_US }));
  const most = Math.max(10, ...points.map(({ nines }) => nines));
  const marks = NINES.filter((nines) => nines <= most * 1.001);
  return draw({
    label: "Latency by percentile, one curve per arm. The table of percentiles has the numbers.",
    options: {
      marginRight: 90,
      height: 340,
      x: { type: "log", label: "percentile", domain: [1, most], ticks: marks, tickFormat: percentileText, grid: true },
      y: { label: "latency (ms)", grid: true, zero: true, nice: true },
      marks: view.arms.flatMap(({ arm, style }) => {
        const own = points.filter((point) => point.arm === arm.id);
        return [
          Plot.areaY(own, {
            x: "nines",
            y1: (point: (typeof own)[number]) => point.low * MS_PER_US,
            y2: (point: (typeof own)[number]) => point.high * MS_PER_US,
            fill: style.colour,
            fillOpacity: 0.12,
          }),
          Plot.line(own, { x: "nines", y: "ms", stroke: style.colour, strokeWidth: 2, strokeDasharray: style.dash }),
        ];
      }),
    },
  });
}

const NINES = [1, 2, 4, 10, 20, 100, 1_000, 10_000] as const;

function percentileText(nines: number): string {
  return `P${Number((100 * (1 - 1 / nines)).toFixed(2))}`;
}
