import type { LinkState, NetworkState, NodeState } from "../console.js";
import { attribute, byId, Keyed, setText, svg } from "./dom.js";
import { rate } from "./format.js";
import { rovingFocus } from "./keyboard.js";
import { type Curve, layoutOf, type MapLayout, pathText, pointOn, routeOf } from "./map-layout.js";
import { createNodeCard, drawNodeCard } from "./node-card.js";
import { hueOf } from "./protocol-hues.js";
import { RateMeter } from "./rate-meter.js";
import { Traffic } from "./traffic.js";

interface DrawnLink {
  readonly link: LinkState;
  readonly route: readonly Curve[];
  readonly hues: readonly number[];
  readonly perSecond: number;
}

const keyOf = ({ from, to, fromProtocol, toProtocol }: LinkState): string => JSON.stringify([from, to, fromProtocol, toProtocol]);

/** The network map: nodes, links, message rates and failures. */
export class MapView {
  readonly #drawing = svg("svg", { role: "group", "aria-label": "Network map" });
  readonly #traffic: Traffic;
  readonly #links: Keyed<DrawnLink, SVGGElement>;
  readonly #nodes: Keyed<NodeState, SVGGElement>;
  readonly #meter = new RateMeter();
  #layout: MapLayout = layoutOf([], 1);
  #chosen = "";

  constructor(parts: { chosen(id: string): void }) {
    const links = svg("g", { class: "links" });
    const traffic = svg("g", { class: "traffic", "aria-hidden": "true" });
    const nodes = svg("g", { class: "nodes" });
    this.#drawing.append(links, traffic, nodes);
    byId("map-place").append(this.#drawing);
    this.#traffic = new Traffic(traffic);
    this.#links = new Keyed(links, { key: (each) => keyOf(each.link), create: createLink, update: drawLink });
    this.#nodes = new Keyed(nodes, {
      key: (node) => node.id,
      create: (node) => createNodeCard(node, parts.chosen),
      update: (group, node) =>
        drawNodeCard(group, node, this.#layout.positions.get(node.id) ?? { x: 0, y: 0 }, node.id === this.#chosen),
    });
    rovingFocus(nodes, "[data-node]");
  }

  show(state: NetworkState, chosen: string): void {
    this.#chosen = chosen;
    const { clientWidth, clientHeight } = this.#drawing;
    this.#layout = layoutOf(state.nodes, clientWidth / Math.max(1, clientHeight));
    attribute(this.#drawing, "viewBox", `0 0 ${this.#layout.width} ${this.#layout.height}`);
    const gateway =
      state.nodes.find((node) => node.kind === "gateway" && node.health === "up") ??
      state.nodes.find((node) => node.kind === "gateway");
    this.#nodes.show(state.nodes);
    this.#links.show(state.links.map((link) => this.#drawn(link, gateway?.id)));
    const stops = [...this.#drawing.querySelectorAll("[data-node]")];
    if (!stops.some((stop) => stop.getAttribute("tabindex") === "0")) stops[0]?.setAttribute("tabindex", "0");
    byId("map-empty").hidden = state.nodes.length > 0;
  }

  focusNode(id: string): void {
    this.#nodes.get(id)?.focus();
  }

  #drawn(link: LinkState, gateway: string | undefined): DrawnLink {
    const route = routeOf(link, this.#layout, gateway);
    const hues = route.length === 2 ? [hueOf(link.fromProtocol), hueOf(link.toProtocol)] : [hueOf(link.toProtocol)];
    const { perSecond, messages, failures } = this.#meter.take(keyOf(link), link.messages, link.failures, performance.now());
    if (messages > 0) this.#traffic.launch(route, hues, messages, failures);
    return { link, route, hues, perSecond };
  }
}

function createLink(): SVGGElement {
  return svg(
    "g",
    { class: "link" },
    svg("path", { class: "strand" }),
    svg("path", { class: "strand" }),
    svg("path", { class: "bridge", d: "M0-7L7 0L0 7L-7 0z" }),
    svg("text", { class: "rate", "text-anchor": "middle" }),
    svg("title"),
  );
}

/** Line width shows the message rate; a diamond marks a bridge. */
function drawLink(group: SVGGElement, { link, route, hues, perSecond }: DrawnLink): void {
  const [first, second, bridge, label, title] = group.children;
  if (!first || !second || !bridge || !label || !title) return;
  const failing = link.messages > 0 && link.failures / link.messages > 0.5;
  attribute(group, "class", `link${link.bridged ? " is-bridged" : ""}`);
  for (const [index, strand] of [first, second].entries()) {
    const piece = route[index];
    attribute(strand, "d", piece === undefined ? undefined : pathText(piece));
    attribute(strand, "class", `strand hue-${hues[index] ?? 0}${failing && index === route.length - 1 ? " is-failing" : ""}`);
    attribute(strand, "stroke-width", (1.5 + Math.min(5, Math.log2(1 + perSecond))).toFixed(1));
  }
  const last = route.at(-1);
  const meets = route.length === 2 ? route[1]?.[0] : last && pointOn(last, 0.5);
  attribute(bridge, "display", link.bridged && route.length === 1 ? undefined : "none");
  if (meets !== undefined) attribute(bridge, "transform", `translate(${meets.x.toFixed(1)} ${meets.y.toFixed(1)})`);
  if (last !== undefined) {
    const at = pointOn(last, 0.5);
    attribute(label, "transform", `translate(${at.x.toFixed(1)} ${(at.y - 9).toFixed(1)})`);
  }
  setText(label, rate(perSecond));
  const bridged = link.bridged ? `${link.fromProtocol} is translated to ${link.toProtocol}` : `uses ${link.toProtocol}`;
  setText(title, `${link.from} → ${link.to}: ${bridged}; ${link.messages} messages, ${link.failures} failed`);
}
