import type { LinkState, NodeState } from "../console.js";

/** A point in drawing units. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A cubic curve: start, two handles, end. */
export type Curve = readonly [Point, Point, Point, Point];

export const CARD = { width: 196, height: 86 } as const;
export const GATEWAY_RADIUS = 54;
/** Number of cards before the drawing grows. */
const FITTING = 10;
/** Area of the drawing; its aspect ratio follows the screen within these bounds. */
const AREA = 1180 * 640;
const FLATTEST = 2.3;
const TALLEST = 1.1;
/** Bend of links, to separate the two directions. */
const BEND = 0.16;

export interface MapLayout {
  readonly width: number;
  readonly height: number;
  readonly positions: ReadonlyMap<string, Point>;
}

/**
 * Gateways in the middle, callers on the left, the rest around. Deterministic: the same nodes get the same positions.
 * `form` is the aspect ratio of the available space.
 */
export function layoutOf(nodes: readonly NodeState[], form: number): MapLayout {
  const around = nodes.filter((node) => node.kind !== "gateway");
  const gateways = nodes.filter((node) => node.kind === "gateway");
  const growth = Math.max(1, around.length / FITTING);
  const height = Math.sqrt(AREA / Math.min(FLATTEST, Math.max(TALLEST, form))) * growth;
  const width = (AREA * growth * growth) / height;
  const middle = { x: width / 2, y: height / 2 };
  const positions = new Map<string, Point>();
  for (const [index, node] of gateways.entries())
    positions.set(node.id, { x: middle.x, y: middle.y + (index - (gateways.length - 1) / 2) * GATEWAY_RADIUS * 2.8 });

  const callers = around.filter((node) => node.kind === "caller");
  const others = around.filter((node) => node.kind !== "caller");
  // The circle starts on the left, so callers come first; all get equal angles.
  const ring = [...callers, ...others];
  const turn = (2 * Math.PI) / Math.max(1, ring.length);
  const first = Math.PI - (turn * (Math.max(1, callers.length) - 1)) / 2;
  const radius = { x: width / 2 - CARD.width / 2 - 24, y: height / 2 - CARD.height / 2 - 24 };
  for (const [index, node] of ring.entries()) {
    const angle = first + index * turn;
    positions.set(node.id, { x: middle.x + Math.cos(angle) * radius.x, y: middle.y + Math.sin(angle) * radius.y });
  }
  return { width, height, positions };
}

/** The path of one link: one curve, or two if a gateway translates it. */
export function routeOf(link: LinkState, layout: MapLayout, gateway: string | undefined): readonly Curve[] {
  const from = layout.positions.get(link.from);
  const to = layout.positions.get(link.to);
  if (from === undefined || to === undefined) return [];
  const middle =
    gateway === undefined || gateway === link.from || gateway === link.to ? undefined : layout.positions.get(gateway);
  if (link.bridged && middle !== undefined) return [curve(from, middle), curve(middle, to)];
  return [curve(from, to)];
}

/** Bent to its right, so that both directions stay apart. */
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

/** The point at a share of a curve, from 0 to 1. */
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
