import type { CapturedMessage } from "../../src/public/inspect.js";

/** How long a call that ended is waited for: the last bytes of its response pass a moment later. */
const SETTLE_MS = 100;
/** Calls that are waited for at a time; the oldest is shown as it is. */
const MOST_HELD = 10_000;

interface Held {
  sighting: CapturedMessage;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Puts together what belongs to one exchange: a call that came in, and the calls that were made to answer it. Each is shown
 * once, when it is over.
 */
export class ExchangeGroups {
  readonly #show: (group: readonly CapturedMessage[]) => Promise<void>;
  readonly #held = new Map<string, Held>();
  /** Shown already; what changes later was the end of a response. */
  readonly #shown = new Set<string>();
  #showing: Promise<void> = Promise.resolve();

  constructor(show: (group: readonly CapturedMessage[]) => Promise<void>) {
    this.#show = show;
  }

  /** All at once, in the order of their beginnings. */
  static of(sightings: readonly CapturedMessage[]): readonly (readonly CapturedMessage[])[] {
    const spans = new Set(sightings.filter(({ direction }) => direction === "in").map(({ span }) => span));
    const isMade = ({ direction, parentSpan }: CapturedMessage): boolean => direction === "out" && spans.has(parentSpan ?? "");
    return sightings
      .filter((sighting) => !isMade(sighting))
      .map((first) => [first, ...sightings.filter((each) => isMade(each) && each.parentSpan === first.span && each !== first)]);
  }

  see(sighting: CapturedMessage): void {
    const { id, status } = sighting;
    if (this.#shown.has(id)) return;
    const held = this.#held.get(id) ?? { sighting, timer: undefined };
    held.sighting = sighting;
    this.#held.set(id, held);
    if (status !== "open" && held.timer === undefined) held.timer = setTimeout(() => this.#settle(id), SETTLE_MS);
    if (this.#held.size > MOST_HELD) this.#showOldest();
  }

  /** Shows what has ended and was still waited for. */
  async end(): Promise<void> {
    const over = [...this.#held.values()].filter(({ sighting }) => sighting.status !== "open").map(({ sighting }) => sighting);
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
    for (const group of ExchangeGroups.of(over)) this.#queue(group);
    await this.#showing;
  }

  #settle(id: string): void {
    const first = this.#held.get(id)?.sighting;
    if (first === undefined || this.#waitsForCaller(first)) return;
    const made = [...this.#held.values()].map(({ sighting }) => sighting).filter((each) => isMadeFor(each, first));
    this.#queue([first, ...made.filter(({ status }) => status !== "open")]);
  }

  /** A call that was made for one that is still under way is shown together with it. */
  #waitsForCaller({ direction, parentSpan }: CapturedMessage): boolean {
    if (direction === "in" || parentSpan === undefined) return false;
    return [...this.#held.values()].some(({ sighting }) => sighting.direction === "in" && sighting.span === parentSpan);
  }

  #showOldest(): void {
    const [oldest] = this.#held.values();
    if (oldest !== undefined) this.#queue([oldest.sighting]);
  }

  #queue(group: readonly CapturedMessage[]): void {
    for (const { id } of group) {
      clearTimeout(this.#held.get(id)?.timer);
      this.#held.delete(id);
      this.#shown.add(id);
    }
    while (this.#shown.size > MOST_HELD) this.#shown.delete(this.#shown.values().next().value ?? "");
    // One after the other, however slow the terminal is.
    this.#showing = this.#showing.then(() => this.#show(group)).catch(() => undefined);
  }
}

function isMadeFor(sighting: CapturedMessage, caller: CapturedMessage): boolean {
  return sighting !== caller && caller.direction === "in" && sighting.direction === "out" && sighting.parentSpan === caller.span;
}
