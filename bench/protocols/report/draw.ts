import * as Plot from "@observablehq/plot";
import { escaped } from "../../harness/html.js";
import { DrawnDocument } from "./svg-document.js";

export const CHART_WIDTH = 760;
/** Room for the ticks and, below them, the name of the axis. */
const BELOW = 46;
/** Colours of the style sheet; further arms begin again, with another dash. */
const HUES = 7;
const DASHES = ["none", "7 3", "2 3", "9 3 2 3"] as const;
const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye"] as const;

/** How one arm is drawn in every chart. Colour is never the only sign. */
export interface ArmStyle {
  readonly colour: string;
  readonly dash: string;
  readonly symbol: (typeof SYMBOLS)[number];
}

export function armStyle(index: number): ArmStyle {
  return {
    colour: `var(--hue-${index % HUES})`,
    dash: DASHES[index % DASHES.length] ?? "none",
    symbol: SYMBOLS[index % SYMBOLS.length] ?? "circle",
  };
}

export interface Drawing {
  /** What a screen reader says instead of the picture. */
  readonly label: string;
  readonly options: Plot.PlotOptions;
}

/** A chart as SVG text. */
export function draw({ label, options }: Drawing): string {
  // Plot only draws into it: `DrawnDocument` has what that needs.
  const document = new DrawnDocument() as unknown as NonNullable<Plot.PlotOptions["document"]>;
  const drawn = Plot.plot({
    width: CHART_WIDTH,
    marginBottom: BELOW,
    ...options,
    x: { labelOffset: BELOW - 4, ...options.x },
    document,
    className: "chart",
    figure: false,
  });
  const svg = String(drawn);
  return svg.replace("<svg ", `<svg role="img" aria-label="${escaped(label)}" `);
}
