import type { CapturedMessage } from "../../../src/public/inspect.js";
import { api } from "./api.js";
import { attribute, byId, fill, h } from "./dom.js";
import { eventList, exchangeView } from "./exchange-view.js";
import { clock, duration } from "./format.js";
import { rovingFocus } from "./keyboard.js";
import { mark, signOf } from "./marks.js";
import { statusWord } from "./message-row.js";
import { hueOf, protocolChip } from "./protocol-hues.js";
import { type TraceRow, traceExchangeOf, traceRows } from "./trace-tree.js";

/** Rows of one trace that are drawn. */
const TRACE_ROWS = 200;

/** Everything known about one message: its trace, both translations, the losses, the events. */
export class InspectorView {
  readonly #sheet = byId("inspector");
  readonly #body = byId("inspector-body");
  readonly #closed: (id: string) => void;
  #id = "";
  #way: "request" | "answer" = "request";

  constructor(parts: { closed(id: string): void }) {
    this.#closed = (id) => parts.closed(id);
    byId("inspector-close").addEventListener("click", () => this.close());
    document.addEventListener("pointerdown", ({ target }) => {
      if (target instanceof Node && !this.#sheet.contains(target)) this.close();
    });
  }

  get isOpen(): boolean {
    return !this.#sheet.hidden;
  }

  async open(id: string): Promise<void> {
    this.#id = id;
    this.#show(true);
    try {
      const chosen = await api.message(id);
      const trace = await api.trace(chosen.traceId);
      if (this.#id === id) this.#draw(chosen, trace.length === 0 ? [chosen] : trace);
    } catch (thrown) {
      fill(this.#body, h("p", { class: "problem", role: "alert" }, `This message cannot be shown: ${wordsOf(thrown)}`));
    }
    byId("inspector-close").focus();
  }

  /** Opens a trace at its first call. */
  async openTrace(traceId: string): Promise<void> {
    try {
      const [first] = await api.trace(traceId);
      if (first !== undefined) return await this.open(first.id);
    } catch {
      // Said below: for the reader a trace that fails and one that is gone are the same.
    }
    this.#show(true);
    fill(this.#body, h("p", { class: "empty" }, "Nothing of this trace is remembered any more."));
  }

  close(): void {
    if (this.#sheet.hidden) return;
    this.#show(false);
    this.#closed(this.#id);
  }

  /** While it is open, nothing behind it can be reached. */
  #show(open: boolean): void {
    this.#sheet.hidden = !open;
    for (const id of ["top", "tabs", "panels"]) byId(id).inert = open;
  }

  #draw(chosen: CapturedMessage, trace: readonly CapturedMessage[]): void {
    const passage = traceExchangeOf(chosen, trace);
    const streamed = [chosen, passage.outgoing, passage.incoming].find((each) => each !== undefined && each.events.length > 0);
    const show = (way: "request" | "answer"): void => {
      this.#way = way;
      this.#draw(chosen, trace);
      this.#body.querySelector<HTMLElement>(`[data-way=${way}]`)?.focus();
    };
    fill(
      this.#body,
      headline(chosen),
      traceTree(traceRows(trace, Date.now()).slice(0, TRACE_ROWS), chosen.id, (id) => void this.open(id)),
      h(
        "div",
        { class: "segmented", role: "group", "aria-label": "Which way" },
        ...(["request", "answer"] as const).map((way) => wayButton(way, way === this.#way, show)),
      ),
      exchangeView(passage, this.#way),
      this.#way === "answer" && streamed !== undefined && eventList(streamed),
    );
  }
}

export function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : "something unexpected happened";
}

function wayButton(way: "request" | "answer", chosen: boolean, show: (way: "request" | "answer") => void): HTMLElement {
  const given = { type: "button", "data-way": way, "aria-pressed": String(chosen), on: { click: () => show(way) } };
  return h("button", given, way === "request" ? "Request →" : "← Answer");
}

function headline(sighting: CapturedMessage): HTMLElement {
  const word = statusWord(sighting.status);
  const ended = sighting.endedAt === undefined ? "still going on" : duration(sighting.endedAt - sighting.at);
  const facts = [
    ["operation", sighting.operation],
    ["began", clock(sighting.at)],
    ["took", ended],
    ["trace", sighting.traceId],
    ["task", sighting.taskId],
    ["session", sighting.sessionId],
    ["message", sighting.messageId],
  ] as const;
  return h(
    "div",
    { class: "headline" },
    h(
      "h2",
      {},
      `${sighting.caller || "somebody"} → ${sighting.agent}`,
      " ",
      protocolChip(`${sighting.via.protocol}@${sighting.via.version}/${sighting.via.binding}`),
    ),
    sighting.text !== "" && h("blockquote", {}, sighting.text),
    h(
      "p",
      { class: `verdict tone-${signOf(word)[1]}` },
      mark(word),
      ` ${word}`,
      sighting.error !== undefined && ` · ${sighting.error.code}: ${sighting.error.message}`,
    ),
    h(
      "dl",
      { class: "facts" },
      ...facts.flatMap(([name, value]) => (value === undefined ? [] : [h("dt", {}, name), h("dd", {}, value)])),
    ),
  );
}

function traceTree(rows: readonly TraceRow[], chosen: string, open: (id: string) => void): HTMLElement {
  const tree = h("div", { class: "trace", role: "tree", "aria-label": "Trace" });
  for (const { sighting, depth, start, width } of rows) {
    const bar = h("span", { class: `trace-bar hue-${hueOf(`${sighting.via.protocol}@${sighting.via.version}`)}` });
    bar.style.left = `${start * 100}%`;
    bar.style.width = `max(3px, ${width * 100}%)`;
    const name = h(
      "span",
      { class: "trace-name" },
      mark(statusWord(sighting.status)),
      h("span", { class: "quiet" }, sighting.direction === "in" ? "in" : "out"),
      ` ${sighting.agent}`,
      h("span", { class: "quiet" }, `${sighting.via.protocol}@${sighting.via.version} · ${sighting.operation}`),
    );
    name.style.paddingInlineStart = `${depth * 20}px`;
    const row = h(
      "div",
      {
        class: "trace-row",
        role: "treeitem",
        "aria-level": depth + 1,
        "aria-selected": String(sighting.id === chosen),
        tabindex: sighting.id === chosen ? 0 : -1,
        on: { click: () => open(sighting.id), keydown: (event) => void (isEnter(event) && open(sighting.id)) },
      },
      name,
      h("span", { class: "trace-track" }, bar),
      h("span", { class: "trace-took" }, sighting.endedAt === undefined ? "…" : duration(sighting.endedAt - sighting.at)),
    );
    attribute(row, "data-depth", depth);
    tree.append(row);
  }
  rovingFocus(tree, "[role=treeitem]");
  return tree;
}

const isEnter = (event: Event): boolean => event instanceof KeyboardEvent && event.key === "Enter";
