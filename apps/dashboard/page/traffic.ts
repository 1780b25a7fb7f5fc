import { attribute, svg } from "./dom.js";
import { type Curve, pointOn } from "./map-layout.js";

/** Limit of moving dots. */
const DOTS = 160;
/** Limit of dots per link and update. */
const DOTS_PER_UPDATE = 6;
/** Duration of one curve. */
const TRAVEL_MS = 900;
/** The dots of one update start within this time. */
const SPREAD_MS = 220;

interface Dot {
  readonly element: SVGElement;
  readonly route: readonly Curve[];
  readonly hues: readonly number[];
  readonly startsAt: number;
}

/** Animates messages as dots along their link; they change colour at a bridge. */
export class Traffic {
  readonly #layer: SVGElement;
  readonly #still: MediaQueryList = matchMedia("(prefers-reduced-motion: reduce)");
  #dots: Dot[] = [];
  #running = false;

  constructor(layer: SVGElement) {
    this.#layer = layer;
  }

  /** Adds dots for new messages; failed ones are crosses. */
  launch(route: readonly Curve[], hues: readonly number[], messages: number, failures: number): void {
    if (this.#still.matches || document.hidden || route.length === 0) return;
    const shown = Math.min(messages, DOTS_PER_UPDATE);
    for (let nth = 0; nth < shown && this.#dots.length < DOTS; nth++) {
      const failed = nth < failures;
      const element = failed
        ? svg("path", { class: "dot is-failed", d: "M-4-4L4 4M4-4L-4 4" })
        : svg("circle", { class: "dot", r: 4.2 });
      this.#dots.push({ element, route, hues, startsAt: performance.now() + (nth * SPREAD_MS) / Math.max(1, shown) });
    }
    if (this.#running) return;
    this.#running = true;
    requestAnimationFrame((now) => this.#step(now));
  }

  #step(now: number): void {
    this.#dots = this.#dots.filter((dot) => this.#move(dot, now));
    this.#running = this.#dots.length > 0;
    if (this.#running) requestAnimationFrame((later) => this.#step(later));
  }

  #move({ element, route, hues, startsAt }: Dot, now: number): boolean {
    const gone = (now - startsAt) / TRAVEL_MS;
    if (gone < 0) return true;
    const piece = route[Math.floor(gone)];
    if (piece === undefined) {
      element.remove();
      return false;
    }
    const { x, y } = pointOn(piece, ease(gone % 1));
    attribute(element, "transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    const hue = `hue-${hues[Math.floor(gone)] ?? 0}`;
    if (!element.classList.contains(hue)) {
      element.classList.remove(...hues.map((each) => `hue-${each}`));
      element.classList.add(hue);
    }
    if (element.parentNode === null) this.#layer.append(element);
    return true;
  }
}

const ease = (share: number): number => share * share * (3 - 2 * share);
