import type { NetworkEvent } from "../console.js";
import { byId, h, Keyed, say } from "./dom.js";
import { clock } from "./format.js";

/** Happenings in a log; older ones scroll out of the state itself. */
const SHOWN = 200;
/** A screen reader is told at most this often. */
const ANNOUNCE_EVERY_MS = 3_000;

const BAD = /kill|died|down|dead|fail|open|lost|refus|error/i;
const GOOD = /restart|up|recover|closed|heal|start/i;

/** What happened lately, the newest first, in any number of places; and spoken, politely. */
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

  show(happenings: readonly NetworkEvent[]): void {
    if (happenings === this.#shown) return;
    this.#shown = happenings;
    const newest = [...happenings].sort((a, b) => b.at - a.at).slice(0, SHOWN);
    for (const list of this.#lists) list.show(newest);
    const first = newest[0];
    if (first !== undefined) this.#announce(`${first.subject}: ${first.says}`);
  }

  #announce(text: string): void {
    const now = performance.now();
    if (text === this.#announced || now - this.#announcedAt < ANNOUNCE_EVERY_MS) return;
    this.#announced = text;
    this.#announcedAt = now;
    say(byId("announcer"), text);
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
