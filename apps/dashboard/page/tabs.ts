import { attribute } from "./dom.js";
import { rovingFocus } from "./keyboard.js";

/** The panels as tabs. The URL fragment holds the selected one, so that reloads and links restore it. */
export class Tabs {
  readonly #tabs: readonly HTMLElement[];
  readonly #changed: (name: string) => void;
  current = "";

  constructor(list: HTMLElement, changed: (name: string) => void) {
    this.#tabs = [...list.querySelectorAll<HTMLElement>("[role=tab]")];
    this.#changed = changed;
    for (const tab of this.#tabs) tab.addEventListener("click", () => this.show(nameOf(tab)));
    rovingFocus(list, "[role=tab]");
    addEventListener("hashchange", () => this.#follow());
  }

  start(): void {
    this.#follow();
  }

  /** The nth panel, from 1. */
  showNth(nth: number): void {
    const tab = this.#tabs[nth - 1];
    if (tab === undefined) return;
    this.show(nameOf(tab));
    tab.focus();
  }

  show(name: string): void {
    if (name === this.current) return;
    this.current = name;
    for (const tab of this.#tabs) {
      const chosen = nameOf(tab) === name;
      attribute(tab, "aria-selected", String(chosen));
      attribute(tab, "tabindex", chosen ? 0 : -1);
      const panel = document.getElementById(`panel-${nameOf(tab)}`);
      if (panel !== null) panel.hidden = !chosen;
    }
    if (location.hash !== `#${name}`) history.replaceState(null, "", `#${name}`);
    this.#changed(name);
  }

  #follow(): void {
    const wanted = location.hash.slice(1);
    const found = this.#tabs.find((tab) => nameOf(tab) === wanted) ?? this.#tabs[0];
    if (found !== undefined) this.show(nameOf(found));
  }
}

const nameOf = (tab: HTMLElement): string => tab.id.replace(/^tab-/, "");
