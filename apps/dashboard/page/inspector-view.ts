import type { CapturedMessage } from "../../../src/public/inspect.js";
import { api } from "./api.js";
import { attribute, byId, fill, h } from "./dom.js";
import { eventList, exchangeView } from "./exchange-view.js";
import { clock, duration } from "./format.js";
import { rovingFocus } from "./keyboard.js";
import { mark, signOf } from "./marks.js";
import { failureText, statusWord } from "./message-row.js";
import { hueOf, protocolChip } from "./protocol-hues.js";
import { type TraceRow, traceExchangeOf, traceRows } from "./trace-tree.js";

/** Limit of displayed rows of one trace. */
const TRACE_ROWS = 200;

/** Details of one message: its trace, both translations, the losses and the events. */
export class InspectorView {
  readonly #sheet = byId("inspector");
  readonly #body = byId("inspector-body");
  readonly #closed: (id: string) => void;
  #id = "";
  #direction: "request" | "answer" = "request";

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
      fill(this.#body, h("p", { class: "problem", role: "alert" }, `Cannot load this message: ${errorText(thrown)}`));
    }
    byId("inspector-close").focus();
  }

  /** Opens a trace at its first call. */
  async openTrace(traceId: string): Promise<void> {
    try {
      const [first] = await api.trace(traceId);
      if (first !== undefined) return await this.open(first.id);
    } catch {
      // Handled below: a failed request and an evicted trace look the same to the user.
    }
    this.#show(true);
    fill(this.#body, h("p", { class: "empty" }, "This trace is no longer available."));
  }

  close(): void {
    if (this.#sheet.hidden) return;
    this.#show(false);
    this.#closed(this.#id);
  }

  /** Modal: the rest of the page is inert while it is open. */
  #show(open: boolean): void {
    this.#sheet.hidden = !open;
    for (const id of ["top", "tabs", "panels"]) byId(id).inert = open;
  }

  #draw(chosen: CapturedMessage, trace: readonly CapturedMessage[]): void {
    const exchange = traceExchangeOf(chosen, trace);
    const streamed = [chosen, exchange.outgoing, exchange.incoming].find((each) => each !== undefined && each.events.length > 0);
    const show = (direction: "request" | "answer"): void => {
      this.#direction = direction;
      this.#draw(chosen, trace);
      this.#body.querySelector<HTMLElement>(`[data-way=${direction}]`)?.focus();
    };
    fill(
      this.#body,
      headline(chosen),
      traceTree(traceRows(trace, Date.now()).slice(0, TRACE_ROWS), chosen.id, (id) => void this.open(id)),
      h(
        "div",
        { class: "segmented", role: "group", "aria-label": "Request or response" },
        ...(["request", "answer"] as const).map((direction) => directionButton(direction, direction === this.#direction, show)),
      ),
      exchangeView(exchange, this.#direction),
      this.#direction === "answer" && streamed !== undefined && eventList(streamed),
    );
  }
}

export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : "unexpected error";
}

function directionButton(
  direction: "request" | "answer",
  chosen: boolean,
  show: (direction: "request" | "answer") => void,
): HTMLElement {
  const given = { type: "button", "data-way": direction, "aria-pressed": String(chosen), on: { click: () => show(direction) } };
  return h("button", given, direction === "request" ? "Request →" : "← Response");
}

function headline(message: CapturedMessage): HTMLElement {
  const word = statusWord(message.status);
  const ended = message.endedAt === undefined ? "in progress" : duration(message.endedAt - message.at);
  const facts = [
    ["operation", message.operation],
    ["started", clock(message.at)],
    ["duration", ended],
    ["trace", message.traceId],
    ["task", message.taskId],
    ["session", message.sessionId],
    ["message", message.messageId],
  ] as const;
  return h(
    "div",
    { class: "headline" },
    h(
      "h2",
      {},
      `${message.caller || "anonymous"} → ${message.agent}`,
      " ",
      protocolChip(`${message.via.protocol}@${message.via.version}/${message.via.binding}`),
    ),
    message.text !== "" && h("blockquote", {}, message.text),
    h(
      "p",
      { class: `verdict tone-${signOf(word)[1]}` },
      mark(word),
      ` ${word}`,
      message.error !== undefined && ` · ${failureText(message.error)}`,
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
  for (const { message, depth, start, width } of rows) {
    const bar = h("span", { class: `trace-bar hue-${hueOf(`${message.via.protocol}@${message.via.version}`)}` });
    bar.style.left = `${start * 100}%`;
    bar.style.width = `max(3px, ${width * 100}%)`;
    const name = h(
      "span",
      { class: "trace-name" },
      mark(statusWord(message.status)),
      h("span", { class: "quiet" }, message.direction === "in" ? "in" : "out"),
      ` ${message.agent}`,
      h("span", { class: "quiet" }, `${message.via.protocol}@${message.via.version} · ${message.operation}`),
    );
    name.style.paddingInlineStart = `${depth * 20}px`;
    const row = h(
      "div",
      {
        class: "trace-row",
        role: "treeitem",
        "aria-level": depth + 1,
        "aria-selected": String(message.id === chosen),
        tabindex: message.id === chosen ? 0 : -1,
        on: { click: () => open(message.id), keydown: (event) => void (isEnter(event) && open(message.id)) },
      },
      name,
      h("span", { class: "trace-track" }, bar),
      h("span", { class: "trace-took" }, message.endedAt === undefined ? "…" : duration(message.endedAt - message.at)),
    );
    attribute(row, "data-depth", depth);
    tree.append(row);
  }
  rovingFocus(tree, "[role=treeitem]");
  return tree;
}

const isEnter = (event: Event): boolean => event instanceof KeyboardEvent && event.key === "Enter";
