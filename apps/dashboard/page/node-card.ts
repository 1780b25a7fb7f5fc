import type { NodeState } from "../console.js";
import { attribute, fill, setText, svg } from "./dom.js";
import { CARD, GATEWAY_RADIUS, type Point } from "./map-layout.js";
import { shapePath, signOf } from "./marks.js";
import { hueOf } from "./protocol-hues.js";

const LONGEST_TITLE = 19;
const LONGEST_LINE = 29;
/** Offset and approximate letter width of the text beside a shape. */
const WORD_START = 18;
const LETTER = 6.9;
/** Interfaces that fit on a card; the details show all. */
const INTERFACES_SHOWN = 2;

/** Creates a node of the map; drawNodeCard updates it. */
export function createNodeCard(node: NodeState, choose: (id: string) => void): SVGGElement {
  const open = (): void => choose(node.id);
  return svg(
    "g",
    {
      role: "button",
      tabindex: -1,
      "data-node": node.id,
      on: {
        click: open,
        keydown: (event) => {
          if (!(event instanceof KeyboardEvent) || (event.key !== "Enter" && event.key !== " ")) return;
          event.preventDefault();
          open();
        },
      },
    },
    ...(node.kind === "gateway" ? gatewayParts() : cardParts()),
  );
}

function gatewayParts(): readonly SVGElement[] {
  return [
    svg("circle", { class: "halo", r: GATEWAY_RADIUS + 14 }),
    svg("circle", { class: "card", r: GATEWAY_RADIUS }),
    svg("path", {
      class: "emblem",
      d: "M-17-20h10l7 7l7-7h10v10l-7 7l7 7v10h-10l-7-7l-7 7h-10v-10l7-7l-7-7z",
      transform: "translate(0 -10) scale(0.8)",
    }),
    svg("text", { class: "card-title", y: 24, "text-anchor": "middle" }),
    svg("g", { class: "card-health", "data-top": GATEWAY_RADIUS - 22 }),
  ];
}

function cardParts(): readonly SVGElement[] {
  const left = -CARD.width / 2;
  const top = -CARD.height / 2;
  return [
    svg("rect", { class: "card", x: left, y: top, width: CARD.width, height: CARD.height, rx: 12 }),
    svg("rect", { class: "stripe", x: left, y: top + 14, width: 4, height: CARD.height - 28, rx: 2 }),
    svg("text", { class: "card-title", x: left + 16, y: top + 25 }),
    svg("g", { class: "card-health", "data-right": -left - 12, "data-top": top + 13 }),
    svg("g", { class: "card-lines", transform: `translate(${left + 16} ${top + 46})` }),
  ];
}

export function drawNodeCard(group: SVGGElement, node: NodeState, at: Point, chosen: boolean): void {
  attribute(group, "transform", `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)})`);
  attribute(
    group,
    "class",
    `node kind-${node.kind} health-${node.health} hue-${hueOf(node.speaks[0] ?? node.kind)}${chosen ? " is-chosen" : ""}`,
  );
  const condition = node.kind === "missing" ? "not available" : node.health;
  attribute(group, "aria-label", `${node.title}, ${node.kind}, ${condition}. ${node.speaks.join(", ")}. ${node.note}`);
  const title = group.querySelector(".card-title");
  if (title !== null) setText(title, cut(node.title, LONGEST_TITLE));
  const health = group.querySelector(".card-health");
  if (health !== null) drawHealth(health, node);
  const lines = group.querySelector(".card-lines");
  if (lines !== null) drawLines(lines, node);
}

function drawHealth(group: Element, { kind, health }: NodeState): void {
  const word = kind === "missing" ? "missing" : kind === "caller" ? "caller" : health;
  if (group.getAttribute("data-word") === word) return;
  attribute(group, "data-word", word);
  const width = (kind === "caller" ? 0 : WORD_START) + word.length * LETTER;
  // Centered on a gateway, right-aligned on a card.
  const left = kind === "gateway" ? -width / 2 : Number(group.getAttribute("data-right")) - width;
  attribute(group, "transform", `translate(${left} ${group.getAttribute("data-top")})`);
  const tone = signOf(word)[1];
  fill(
    group,
    kind !== "caller" && svg("path", { class: `tone-${tone}`, d: shapePath(word), transform: "scale(0.9)" }),
    svg("text", { class: `health-word tone-${tone}`, x: kind === "caller" ? 0 : WORD_START, y: 11 }, word),
  );
}

/** Interfaces of a healthy node; the problem of an unhealthy one. */
function drawLines(group: Element, node: NodeState): void {
  const trouble = node.kind === "missing" || node.health === "down";
  const lines = trouble
    ? [node.speaks[0] ?? "", ...wrap(node.note).slice(0, 2)]
    : [...node.speaks.slice(0, INTERFACES_SHOWN), more(node)];
  const text = lines
    .filter((line) => line !== "")
    .slice(0, 3)
    .join("\n");
  if (group.getAttribute("data-text") === text) return;
  attribute(group, "data-text", text);
  fill(
    group,
    ...text
      .split("\n")
      .map((line, index) =>
        svg(
          "text",
          { class: index < node.speaks.length && !(trouble && index > 0) ? "card-way" : "card-note", y: index * 15 },
          cut(line, LONGEST_LINE),
        ),
      ),
  );
}

function more({ speaks, note }: NodeState): string {
  return speaks.length > INTERFACES_SHOWN ? `and ${speaks.length - INTERFACES_SHOWN} more` : note;
}

function wrap(text: string): readonly string[] {
  const lines: string[] = [""];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && last.length + word.length >= LONGEST_LINE) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
