import { attribute } from "./dom.js";
import { stepOf } from "./keyboard.js";

/** Rows drawn above and below the visible area. */
const SPARE_ROWS = 8;

export interface VirtualParts<T> {
  /** The scroll container; `rows` is inside it. */
  readonly box: HTMLElement;
  readonly rows: HTMLElement;
  readonly rowHeight: number;
  readonly label: string;
  key(item: T): string;
  create(): HTMLElement;
  draw(row: HTMLElement, item: T): void;
  /** Called when a row is activated. */
  chosen(item: T): void;
}

/** A list of any length that keeps only the visible rows in the document and reuses them. */
export class VirtualList<T> {
  readonly #parts: VirtualParts<T>;
  readonly #pool: HTMLElement[] = [];
  #items: readonly T[] = [];
  #active = 0;
  #chosenKey = "";

  constructor(parts: VirtualParts<T>) {
    this.#parts = parts;
    attribute(parts.rows, "role", "grid");
    attribute(parts.rows, "aria-label", parts.label);
    parts.box.addEventListener("scroll", () => this.#draw(), { passive: true });
    new ResizeObserver(() => this.#draw()).observe(parts.box);
    parts.rows.addEventListener("click", (event) => this.#choose(indexOf(event.target)));
    parts.box.addEventListener("keydown", (event) => this.#onKey(event));
    // Keyboard navigation continues from the focused row.
    parts.rows.addEventListener("focusin", (event) => {
      this.#active = indexOf(event.target) ?? this.#active;
    });
  }

  /** Replaces the items. The scroll position follows the visible items when new ones are added above. */
  show(items: readonly T[]): void {
    const { box, rowHeight, key } = this.#parts;
    const top = Math.floor(box.scrollTop / rowHeight);
    const anchor = top > 0 ? this.#items[top] : undefined;
    const active = this.#items[this.#active];
    this.#items = items;
    if (active !== undefined)
      this.#active = Math.max(
        0,
        near(items, this.#active, (item) => key(item) === key(active)),
      );
    this.#parts.rows.style.height = `${items.length * rowHeight}px`;
    if (anchor !== undefined) {
      const moved = near(items, top, (item) => key(item) === key(anchor));
      if (moved > top) box.scrollTop += (moved - top) * rowHeight;
    }
    this.#draw();
  }

  /** Marks the row whose details are open. */
  mark(key: string): void {
    this.#chosenKey = key;
    this.#draw();
  }

  focus(): void {
    this.#reveal(Math.min(this.#active, this.#items.length - 1));
  }

  #draw(): void {
    const { box, rows, rowHeight, key, create, draw } = this.#parts;
    const first = Math.max(0, Math.floor(box.scrollTop / rowHeight) - SPARE_ROWS);
    const fits = Math.ceil(box.clientHeight / rowHeight) + 2 * SPARE_ROWS;
    const wanted = Math.max(0, Math.min(fits, this.#items.length - first));
    while (this.#pool.length < wanted) this.#pool.push(rows.appendChild(create()));
    while (this.#pool.length > wanted) this.#pool.pop()?.remove();
    for (const [offset, row] of this.#pool.entries()) {
      const index = first + offset;
      const item = this.#items[index];
      if (item === undefined) continue;
      row.style.transform = `translateY(${index * rowHeight}px)`;
      attribute(row, "data-index", index);
      attribute(row, "aria-rowindex", index + 1);
      attribute(row, "tabindex", index === this.#active ? 0 : -1);
      attribute(row, "aria-selected", String(key(item) === this.#chosenKey));
      draw(row, item);
    }
    attribute(rows, "aria-rowcount", this.#items.length);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#choose(this.#active);
      return;
    }
    const page = Math.max(1, Math.floor(this.#parts.box.clientHeight / this.#parts.rowHeight) - 1);
    const last = this.#items.length - 1;
    const next =
      event.key === "PageDown"
        ? Math.min(last, this.#active + page)
        : event.key === "PageUp"
          ? Math.max(0, this.#active - page)
          : stepOf(event.key, this.#active, this.#items.length);
    if (next === undefined) return;
    event.preventDefault();
    this.#reveal(next);
  }

  /** Scrolls a row into view and focuses it. */
  #reveal(index: number): void {
    if (index < 0) return;
    const { box, rowHeight } = this.#parts;
    this.#active = index;
    const top = index * rowHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight - box.clientHeight;
    this.#draw();
    this.#pool.find((row) => row.dataset["index"] === String(index))?.focus({ preventScroll: true });
  }

  #choose(index: number | undefined): void {
    const item = index === undefined ? undefined : this.#items[index];
    if (item !== undefined) this.#parts.chosen(item);
  }
}

function indexOf(target: EventTarget | null): number | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>("[data-index]") : null;
  return row === null ? undefined : Number(row.dataset["index"]);
}

/** Index of the first match, searched from `from` because new items are added above; -1 if there is none. */
function near<T>(items: readonly T[], from: number, matches: (item: T) => boolean): number {
  for (let index = from; index < items.length; index++) {
    const item = items[index];
    if (item !== undefined && matches(item)) return index;
  }
  return items.findIndex(matches);
}
