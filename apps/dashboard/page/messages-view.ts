import type { CapturedMessageSummary } from "../../../src/public/inspect.js";
import { attribute, byId, fill, h, setText } from "./dom.js";
import { count } from "./format.js";
import { EVERYTHING, type MessageFilter, matcher } from "./message-filter.js";
import { createMessageRow, drawMessageRow } from "./message-row.js";
import type { MessageStore } from "./message-store.js";
import { VirtualList } from "./virtual-list.js";

const ROW_HEIGHT = 36;

export interface MessagesParts {
  readonly store: MessageStore;
  chosen(message: CapturedMessageSummary): void;
}

/** The live message list with filters and pause. */
export class MessagesView {
  readonly #store: MessageStore;
  readonly #list: VirtualList<CapturedMessageSummary>;
  readonly #text = byId("filter-text") as HTMLInputElement; // declared in index.html
  readonly #agent = byId("filter-agent") as HTMLSelectElement;
  readonly #protocol = byId("filter-protocol") as HTMLSelectElement;
  readonly #direction = byId("filter-direction") as HTMLSelectElement;
  readonly #failed = byId("filter-failed") as HTMLInputElement;
  readonly #trace = byId("filter-trace");
  readonly #pause = byId("pause");
  #filter: MessageFilter = EVERYTHING;
  #shownVersion = -1;
  #versionAtPause: number | undefined;

  constructor({ store, chosen }: MessagesParts) {
    this.#store = store;
    this.#list = new VirtualList({
      box: byId("message-box"),
      rows: byId("message-rows"),
      rowHeight: ROW_HEIGHT,
      label: "Messages",
      key: (message) => message.id,
      create: createMessageRow,
      draw: drawMessageRow,
      chosen,
    });
    for (const field of [this.#text, this.#agent, this.#protocol, this.#direction, this.#failed])
      field.addEventListener("input", () => this.#refilter());
    this.#pause.addEventListener("click", () => this.togglePause());
    this.#trace.addEventListener("click", () => this.show({ traceId: "" }));
    byId("filter-clear").addEventListener("click", () => this.show(EVERYTHING));
  }

  /** Redraws if there are changes and the list is not paused. */
  draw(): void {
    if (this.#versionAtPause === undefined && this.#shownVersion !== this.#store.version) this.#drawRows();
    this.#drawCount();
  }

  /** Changes some members of the filter. */
  show(part: Partial<MessageFilter>): void {
    const filter = { ...this.#filter, ...part };
    this.#text.value = filter.text;
    choose(this.#agent, filter.agent);
    choose(this.#protocol, filter.protocol);
    this.#direction.value = filter.direction;
    this.#failed.checked = filter.failedOnly;
    this.#filter = filter;
    this.#refilter();
  }

  focusFilter(): void {
    this.#text.focus();
    this.#text.select();
  }

  focusList(): void {
    this.#list.focus();
  }

  mark(id: string): void {
    this.#list.mark(id);
  }

  togglePause(): void {
    this.#versionAtPause = this.#versionAtPause === undefined ? this.#store.version : undefined;
    const paused = this.#versionAtPause !== undefined;
    attribute(this.#pause, "aria-pressed", String(paused));
    setText(this.#pause, paused ? "Resume" : "Pause");
    this.draw();
  }

  #refilter(): void {
    this.#filter = {
      agent: this.#agent.value,
      protocol: this.#protocol.value,
      direction: this.#direction.value,
      failedOnly: this.#failed.checked,
      traceId: this.#filter.traceId,
      text: this.#text.value,
    };
    this.#trace.hidden = this.#filter.traceId === "";
    setText(this.#trace, `trace ${this.#filter.traceId.slice(0, 8)} ✕`);
    byId("message-box").scrollTop = 0;
    this.#drawRows();
    this.#drawCount();
  }

  #drawRows(): void {
    this.#shownVersion = this.#store.version;
    const all = this.#store.all();
    offer(this.#agent, "All agents", new Set(all.map((each) => each.agent)));
    offer(this.#protocol, "All protocols", new Set(all.map((each) => each.via.protocol)));
    const shown = all.filter(matcher(this.#filter)).reverse();
    this.#list.show(shown);
    byId("messages-empty").hidden = shown.length > 0;
    setText(byId("messages-empty"), all.length === 0 ? "No messages yet." : "No message matches the filter.");
    attribute(byId("message-count"), "data-shown", shown.length);
  }

  #drawCount(): void {
    const shown = Number(byId("message-count").dataset["shown"] ?? 0);
    const total = this.#store.size;
    const changes = this.#versionAtPause === undefined ? 0 : this.#store.version - this.#versionAtPause;
    const paused = this.#versionAtPause === undefined ? "" : ` · paused, ${count(changes)} changes since`;
    setText(byId("message-count"), `${shown === total ? count(total) : `${count(shown)} of ${count(total)}`} messages${paused}`);
  }
}

/** Updates the options of a field and keeps the selection. */
function offer(field: HTMLSelectElement, everything: string, values: ReadonlySet<string>): void {
  const wanted = [...values].sort();
  if (field.value !== "" && !values.has(field.value)) wanted.push(field.value);
  const now = Array.from(field.options, (option) => option.value).slice(1);
  if (now.length === wanted.length && now.every((value, index) => value === wanted[index])) return;
  const chosen = field.value;
  fill(field, h("option", { value: "" }, everything), ...wanted.map((value) => h("option", { value }, value)));
  field.value = chosen;
}

/** Selects a value that may not be an option yet. */
function choose(field: HTMLSelectElement, value: string): void {
  if (value !== "" && !Array.from(field.options).some((option) => option.value === value))
    field.append(h("option", { value }, value));
  field.value = value;
}
