import * as Plot from "@observablehq/plot";
import { SEGMENTS } from "../result/index.js";
import { draw } from "./draw.js";
import type { LoadPoint } from "./knee.js";
import { kneeOf, loadPoints } from "./knee.js";
import type { ConditionView } from "./view.js";
import { SEGMENT_WORDS } from "./words.js";

const ROW = 40;
const MS_PER_US = 1 / 1_000;

export const BYTE_WORDS = { payload: "payload", envelope: "protocol envelope", transport: "HTTP and below" } as const;
export type BytePart = keyof typeof BYTE_WORDS;
export const BYTE_PARTS: readonly BytePart[] = ["payload", "envelope", "transport"];

/** One coloured stretch of a bar. */
interface Part {
  readonly arm: string;
  readonly part: string;
  readonly value: number;
}

/** The parts that have a colour in the legend of a stacked chart. */
export interface Legend {
  readonly name: string;
  readonly colour: string;
  /** Of a curve. */
  readonly dash?: string;
}

export const TIME_LEGEND: readonly Legend[] = SEGMENTS.map((segment, index) => ({
  name: SEGMENT_WORDS[segment],
  colour: `var(--part-${index})`,
}));
export const BYTE_LEGEND: readonly Legend[] = BYTE_PARTS.map((part, index) => ({
  name: BYTE_WORDS[part],
  colour: `var(--part-${index * 3})`,
}));

/** Where the time of a mean request goes. */
export function timeChart({ arms }: ConditionView): string {
  const parts = arms.flatMap(({ arm, summary }) =>
    SEGMENTS.flatMap((segment): readonly Part[] => {
      const value = summary.segmentsUs[segment];
      return value === null ? [] : [{ arm: arm.id, part: SEGMENT_WORDS[segment], value: value * MS_PER_US }];
    }),
  );
  return stackChart(parts, {
    arms: arms.map(({ arm }) => arm.id),
    legend: TIME_LEGEND,
    axis: "mean time of a request (ms)",
    label: "The parts of the mean latency of each arm, stacked. The table below has the numbers.",
  });
}

/** What a mean request and its answer put on the wire. */
export function byteChart({ arms }: ConditionView): string {
  const parts = arms.flatMap(({ arm, summary }) =>
    BYTE_PARTS.flatMap((part): readonly Part[] => {
      const value = summary.bytes[part];
      return value === null ? [] : [{ arm: arm.id, part: BYTE_WORDS[part], value }];
    }),
  );
  return stackChart(parts, {
    arms: arms.map(({ arm }) => arm.id),
    legend: BYTE_LEGEND,
    axis: "bytes per request, both directions",
    label: "Payload, envelope and transport bytes of each arm, stacked. The table below has the numbers.",
  });
}

interface StackOptions {
  readonly arms: readonly string[];
  readonly legend: readonly Legend[];
  readonly axis: string;
  readonly label: string;
}

function stackChart(parts: readonly Part[], { arms, legend, axis, label }: StackOptions): string {
  return draw({
    label,
    options: {
      marginLeft: 130,
      marginRight: 40,
      height: 66 + ROW * arms.length,
      x: { label: axis, grid: true, nice: true },
      y: { label: null, domain: [...arms], tickSize: 0, padding: 0.3 },
      color: { domain: legend.map(({ name }) => name), range: legend.map(({ colour }) => colour) },
      marks: [
        Plot.barX(parts, {
          x: "value",
          y: "arm",
          fill: "part",
          stroke: "var(--panel)",
          strokeWidth: 0.75,
          title: ({ arm, part, value }: Part) => `${arm}, ${part}: ${value.toPrecision(3)}`,
        }),
      ],
    },
  });
}

export interface LoadCurve {
  readonly arm: string;
  readonly points: readonly LoadPoint[];
  readonly knee: LoadPoint | undefined;
}

export function loadCurves(views: readonly ConditionView[]): readonly LoadCurve[] {
  const conditions = views.map(({ condition }) => condition);
  const summaries = views.flatMap(({ arms }) => arms.map(({ summary }) => summary));
  return (views[0]?.arms ?? []).map(({ arm }) => {
    const points = loadPoints(arm.id, conditions, summaries);
    return { arm: arm.id, points, knee: kneeOf(points) };
  });
}

/** P95 over what was answered per second; the knee of each arm as a ring. */
export function loadChart(views: readonly ConditionView[], curves: readonly LoadCurve[]): string {
  const styles = new Map(views[0]?.arms.map(({ arm, style }) => [arm.id, style]) ?? []);
  const knees = curves.flatMap(({ arm, knee }) => (knee === undefined ? [] : [{ arm, ...knee, ms: knee.p95Us * MS_PER_US }]));
  return draw({
    label: "P95 latency over throughput, one curve per arm, with a ring at the knee. The table below has the numbers.",
    options: {
      marginRight: 90,
      height: 360,
      x: { label: "throughput (per s)", grid: true, zero: true, nice: true },
      y: { type: "log", label: "P95 latency (ms)", grid: true },
      marks: [
        ...curves.flatMap(({ arm, points }) => {
          const style = styles.get(arm);
          const own = points.map((point) => ({ ...point, ms: point.p95Us * MS_PER_US }));
          const stroke = style?.colour ?? "currentColor";
          return [
            Plot.line(own, { x: "throughput", y: "ms", stroke, strokeWidth: 2, strokeDasharray: style?.dash ?? "none" }),
            Plot.dot(own, { x: "throughput", y: "ms", fill: stroke, r: 3.5, symbol: style?.symbol ?? "circle" }),
          ];
        }),
        Plot.dot(knees, {
          x: "throughput",
          y: "ms",
          r: 9,
          strokeWidth: 2,
          stroke: ({ arm }: (typeof knees)[number]) => styles.get(arm)?.colour ?? "currentColor",
        }),
      ],
      color: { type: "identity" },
    },
  });
}
