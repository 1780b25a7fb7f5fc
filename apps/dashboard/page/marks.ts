import { svg } from "./dom.js";

/** Every status has its own shape, so that colour is never the only indicator. */
const SHAPES = {
  up: "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11z",
  starting: "M8 2.5a5.5 5.5 0 0 1 5.5 5.5h-2a3.5 3.5 0 0 0-3.5-3.5zM2.5 8a5.5 5.5 0 0 0 5.5 5.5v-2a3.5 3.5 0 0 1-3.5-3.5z",
  down: "M3.2 4.6L4.6 3.2L8 6.6L11.4 3.2L12.8 4.6L9.4 8L12.8 11.4L11.4 12.8L8 9.4L4.6 12.8L3.2 11.4L6.6 8z",
  unknown: "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11zm0 2a3.5 3.5 0 1 0 0 7a3.5 3.5 0 0 0 0-7z",
  wait: "M3 3h10v2L9.5 8L13 11v2H3v-2L6.5 8L3 5z",
  open: "M8 2l6.5 11.5h-13z",
  half: "M8 2.5v11a5.5 5.5 0 0 1 0-11zM8 2.5a5.5 5.5 0 0 1 0 11v-1.5a4 4 0 0 0 0-8z",
  stopped: "M3.5 3.5h9v9h-9z",
  ok: "M6.4 12.6L2 8.2L3.5 6.7L6.4 9.6L12.5 3.4L14 4.9z",
} as const;

export type Shape = keyof typeof SHAPES;
export type Tone = "good" | "warn" | "bad" | "quiet";

/** Shape and tone of every known status. */
const SIGNS: { readonly [word: string]: readonly [Shape, Tone] } = {
  up: ["up", "good"],
  starting: ["starting", "warn"],
  down: ["down", "bad"],
  closed: ["up", "good"],
  open: ["open", "bad"],
  "half-open": ["half", "warn"],
  ok: ["ok", "good"],
  failed: ["down", "bad"],
  rejected: ["down", "bad"],
  stopped: ["stopped", "quiet"],
  canceled: ["stopped", "quiet"],
  canceling: ["stopped", "warn"],
  "in progress": ["starting", "warn"],
  working: ["starting", "warn"],
  submitted: ["wait", "quiet"],
  "input-required": ["half", "warn"],
  "auth-required": ["half", "warn"],
  completed: ["ok", "good"],
};

export function signOf(word: string): readonly [Shape, Tone] {
  return Object.hasOwn(SIGNS, word) ? (SIGNS[word] ?? ["unknown", "quiet"]) : ["unknown", "quiet"];
}

export function shapePath(word: string): string {
  return SHAPES[signOf(word)[0]];
}

/** The shape of a status; its text is shown beside it. */
export function mark(word: string): SVGElement {
  const [shape, tone] = signOf(word);
  return svg(
    "svg",
    { class: `mark tone-${tone}`, viewBox: "0 0 16 16", "aria-hidden": "true", "data-shape": shape },
    svg("path", { d: SHAPES[shape] }),
  );
}
