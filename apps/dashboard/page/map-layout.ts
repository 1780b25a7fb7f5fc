import type { LinkState, NodeState } from "../console.js";

/** A point in the units of the drawing. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A cubic curve: start, two handles, end. */
export type Curve = readonly [Point, Point, Point, Point];

export const CARD = { width: 196, height: 86 } as const;
export const GATEWAY_RADIUS = 54;
/** So many stand around the middle before the drawing grows. */
const FITTING = 10;
/** The area of the drawing; its form follows the place it has on the screen, within these bounds. */
const AREA = 1180 * 640;
const FLATTEST = 2.3;
const TALLEST = 1.1;
/** How far two links that share their ends are pulled apart. */
const BEND = 0.16;

export interface MapLayout {
  readonly width: number;
  readonly height: number;
  readonly places: ReadonlyMap<string, Point>;
}

/**
 * Gateways in the middle, callers on the left, everybody else around. The same nodes always stand at the same places.
 * `form` is the width of the place by its height.
 */
export function layoutOf(nodes: readonly NodeState[], form: number): MapLayout {
  const around = nodes.filter((node) => node.kind !== "gateway");
  const gateways = nodes.filter((node) => node.kind === "gateway");
  const growth = Math.max(1, around.length / FITTING);
  const height = Math.sqrt(AREA / Math.min(FLATTEST, Math.max(TALLEST, form))) * growth;
  const width = (AREA * growth * growth) / height;
  const middle = { x: width / 2, y: height / 2 };
  const places = new Map<string, Point>();
  for (const [index, node] of gateways.entries())
    places.set(node.id, { x: middle.x, y: middle.y + (index - (gateways.length - 1) / 2) * GATEWAY_RADIUS * 2.8 });

  const callers = around.filter((node) => node.kind === "caller");
  const others = around.filter((node) => node.kind !== "caller");
  // The circle begins in the west, so callers come first; each gets the same share of it.
  const ring = [...callers, ...others];
  const turn = (2 * Math.PI) / Math.max(1, ring.length);
  const first = Math.PI - (turn * (Math.max(1, callers.length) - 1)) / 2;
  const radius = { x: width / 2 - CARD.width / 2 - 24, y: height / 2 - CARD.height / 2 - 24 };
  for (const [index, node] of ring.entries()) {
    const angle = first + index * turn;
    places.set(node.id, { x: middle.x + Math.cos(angle) * radius.x, y: middle.y + Math.sin(angle) * radius.y });
  }
  return { width, height, places };
}

/** The way of one link: one piece, or two where it crosses a gateway that translates. */
export function routeOf(link: LinkState, layout: MapLayout, gateway: string | undefined): readonly Curve[] {
  const from = layout.places.get(link.from);
  const to = layout.places.get(link.to);
  if (from === undefined || to === undefined) return [];
  const middle = gateway === undefined || gateway === link.from || gateway === link.to ? undefined : layout.places.get(gateway);
  if (link.bridged && middle !== undefined) return [curve(from, middle), curve(middle, to)];
  return [curve(from, to)];
}

/** Bent to its own right, so that there and back do not lie on each other. */
function curve(from: Point, to: Point): Curve {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const side = { x: -dy * BEND, y: dx * BEND };
  return [
    from,
    { x: from.x + dx * 0.33 + side.x, y: from.y + dy * 0.33 + side.y },
    { x: from.x + dx * 0.67 + side.x, y: from.y + dy * 0.67 + side.y },
    to,
  ];
}

/** Where one is after a share of a curve, from 0 to 1. */
export function pointOn([a, b, c, d]: Curve, share: number): Point {
  const rest = 1 - share;
  const weights = [rest ** 3, 3 * rest ** 2 * share, 3 * rest * share ** 2, share ** 3] as const;
  return {
    x: a.x * weights[0] + b.x * weights[1] + c.x * weights[2] + d.x * weights[3],
    y: a.y * weights[0] + b.y * weights[1] + c.y * weights[2] + d.y * weights[3],
  };
}

export function pathText([a, b, c, d]: Curve): string {
  const at = ({ x, y }: Point): string => `${x.toFixed(1)} ${y.toFixed(1)}`;
  return `M${at(a)}C${at(b)} ${at(c)} ${at(d)}`;
}
