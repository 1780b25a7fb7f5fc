import type { JsonObject } from "../../../src/index.js";
import type { TaskLine } from "../console.js";
import { api } from "./api.js";
import { codeView } from "./code-view.js";
import { attribute, byId, fill, h, Keyed, setText } from "./dom.js";
import { clock } from "./format.js";
import { errorText } from "./inspector-view.js";
import { rovingFocus } from "./keyboard.js";
import { mark, signOf } from "./marks.js";
import { textIn } from "./text-in.js";

const EVERY_MS = 2_000;
/** Limit of displayed events of one task; the newest are kept. */
const EVENTS_SHOWN = 500;

/** The task list and the events of the selected task; polled while the panel is visible. */
export class TasksView {
  readonly #list: Keyed<TaskLine, HTMLElement>;
  readonly #events = byId("task-events");
  #timer: ReturnType<typeof setTimeout> | undefined;
  #chosen = "";
  #drawnEvents = "";

  constructor() {
    const list = byId("task-list");
    this.#list = new Keyed(list, {
      key: (task) => task.id,
      create: () => this.#create(),
      update: (row, task) => this.#draw(row, task),
    });
    rovingFocus(list, "[role=option]");
    list.addEventListener("click", (event) => this.#choose(event.target));
    list.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") this.#choose(event.target);
    });
  }

  /** Starts or stops polling. */
  watch(on: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (on) void this.#poll();
  }

  async #poll(): Promise<void> {
    const timer = setTimeout(() => void this.#poll(), EVERY_MS);
    this.#timer = timer;
    const problem = byId("tasks-problem");
    try {
      const { tasks } = await api.tasks();
      this.#list.show(tasks);
      problem.hidden = tasks.length > 0;
      setText(problem, "No tasks yet.");
      const rows = [...byId("task-list").children];
      if (!rows.some((row) => row.getAttribute("tabindex") === "0")) rows[0]?.setAttribute("tabindex", "0");
      if (this.#chosen !== "") await this.#showEvents();
    } catch (thrown) {
      problem.hidden = false;
      setText(problem, `Cannot load tasks: ${errorText(thrown)}`);
    }
  }

  #create(): HTMLElement {
    return h("div", { class: "task-row", role: "option", tabindex: -1 });
  }

  #draw(row: HTMLElement, task: TaskLine): void {
    attribute(row, "aria-selected", String(task.id === this.#chosen));
    const drawn = JSON.stringify(task);
    if (row.dataset["drawn"] === drawn) return;
    row.dataset["drawn"] = drawn;
    row.dataset["task"] = task.id;
    fill(
      row,
      h("span", { class: `task-state tone-${signOf(task.state)[1]}` }, mark(task.state), task.state),
      h("span", { class: "task-agent" }, task.agent),
      h("time", {}, clock(task.at, false)),
      h("span", { class: "task-text" }, task.text),
      h("code", { class: "task-id" }, task.id),
    );
  }

  #choose(target: EventTarget | null): void {
    const row = target instanceof Element ? target.closest<HTMLElement>("[data-task]") : null;
    if (row === null) return;
    this.#chosen = row.dataset["task"] ?? "";
    this.#drawnEvents = "";
    for (const each of byId("task-list").children) {
      attribute(each, "aria-selected", String(each === row));
      attribute(each, "tabindex", each === row ? 0 : -1);
    }
    void this.#showEvents();
  }

  async #showEvents(): Promise<void> {
    const id = this.#chosen;
    try {
      const { events } = await api.taskEvents(id);
      const drawn = `${id} ${events.length}`;
      if (id !== this.#chosen || drawn === this.#drawnEvents) return;
      this.#drawnEvents = drawn;
      fill(
        this.#events,
        h("h3", {}, `Events of ${id}`),
        events.length === 0 && h("p", { class: "empty" }, "No events stored."),
        h("ol", { class: "events" }, ...events.slice(-EVENTS_SHOWN).map(eventLine)),
      );
    } catch (thrown) {
      this.#drawnEvents = "";
      fill(this.#events, h("p", { class: "problem", role: "alert" }, `Cannot load events: ${errorText(thrown)}`));
    }
  }
}

function eventLine(event: JsonObject): HTMLElement {
  const { kind, at, state } = event;
  const title = [kind, state].filter((each) => typeof each === "string").join(" · ");
  return h(
    "li",
    {},
    typeof at === "number" && h("time", {}, clock(at)),
    h("span", { class: "event-kind" }, title === "" ? "event" : title),
    h("span", { class: "event-text" }, textIn(event) ?? ""),
    h("details", {}, h("summary", {}, "JSON"), codeView(JSON.stringify(event), "event as JSON")),
  );
}
