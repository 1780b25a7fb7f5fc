import type { NetworkEvent } from "../console.js";
import { byId, h, Keyed, setText } from "./dom.js";
import { clock } from "./format.js";

/** Limit of displayed events. */
const SHOWN = 200;
/** Minimum interval between screen reader announcements. */
const ANNOUNCE_EVERY_MS = 3_000;

const BAD = /kill|died|down|dead|fail|open|lost|refus|error/i;
const GOOD = /restart|up|recover|closed|heal|start/i;

/** Recent events, newest first, in one or more lists; announced to screen readers. */
export class EventsView {
  readonly #lists: readonly Keyed<NetworkEvent, HTMLElement>[];
  #shown: readonly NetworkEvent[] | undefined;
  #announcedAt = 0;
  #announced = "";

  constructor(lists: readonly HTMLElement[], openTrace: (traceId: string) => void) {
    this.#lists = lists.map(
      (list) =>
        new Keyed(list, {
          key: (each) => JSON.stringify([each.at, each.kind, each.subject, each.says]),
          create: (each) => line(each, openTrace),
          update: () => undefined,
        }),
    );
  }

  show(events: readonly NetworkEvent[]): void {
    if (events === this.#shown) return;
    this.#shown = events;
    const newest = [...events].sort((a, b) => b.at - a.at).slice(0, SHOWN);
    for (const list of this.#lists) list.show(newest);
    const first = newest[0];
    if (first !== undefined) this.#announce(`${first.subject}: ${first.says}`);
  }

  #announce(text: string): void {
    const now = performance.now();
    if (text === this.#announced || now - this.#announcedAt < ANNOUNCE_EVERY_MS) return;
    this.#announced = text;
    this.#announcedAt = now;
    setText(byId("announcer"), text);
  }
}

function line({ at, kind, subject, says, traceId }: NetworkEvent, openTrace: (traceId: string) => void): HTMLElement {
  const tone = BAD.test(kind) ? "bad" : GOOD.test(kind) ? "good" : "quiet";
  return h(
    "li",
    { class: "happening" },
    h("time", {}, clock(at, false)),
    h("span", { class: `happening-kind tone-${tone}` }, kind),
    h(
      "span",
      { class: "happening-says" },
      h("strong", {}, subject),
      ` ${says}`,
      " ",
      traceId !== undefined &&
        h("button", { type: "button", class: "link-button", on: { click: () => openTrace(traceId) } }, "trace"),
    ),
  );
}
