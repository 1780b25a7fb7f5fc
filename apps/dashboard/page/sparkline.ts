import { svg } from "./dom.js";

const WIDTH = 160;
const HEIGHT = 36;
const INSET = 2;

/** A small line chart that marks the last value. `label` is the accessible name. */
export function sparkline(values: readonly number[], label: string, ceiling = 0): SVGElement {
  const chart = svg("svg", {
    class: "sparkline",
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": label,
    preserveAspectRatio: "none",
  });
  if (values.length === 0) return chart;
  const top = Math.max(ceiling, ...values) || 1;
  const points = values.map((value, index): readonly [number, number] => [
    values.length === 1 ? WIDTH - INSET : INSET + (index / (values.length - 1)) * (WIDTH - 2 * INSET),
    HEIGHT - INSET - (value / top) * (HEIGHT - 2 * INSET),
  ]);
  const line = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
  const [lastX, lastY] = points.at(-1) ?? [0, 0];
  chart.append(
    svg("polygon", { class: "spark-area", points: `${INSET},${HEIGHT} ${line} ${lastX.toFixed(1)},${HEIGHT}` }),
    svg("polyline", { class: "spark-line", points: line }),
    svg("path", { class: "spark-last", d: `M${lastX.toFixed(1)} ${lastY.toFixed(1)}h0.01` }),
  );
  return chart;
}
