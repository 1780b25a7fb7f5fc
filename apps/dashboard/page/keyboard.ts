/** A keyboard shortcut with its description. */
export interface Key {
  readonly key: string;
  readonly label: string;
  run(): void;
}

/** Handles single-key shortcuts, except while the user types or holds a modifier. */
export function listenToKeys(keys: readonly Key[]): void {
  const byKey = new Map(keys.map((each) => [each.key, each]));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key !== "Escape" && isTyping(event.target)) return;
    const found = byKey.get(event.key);
    if (found === undefined) return;
    event.preventDefault();
    found.run();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select");
}

const STEPS: { readonly [key: string]: number } = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, j: 1, k: -1 };

/** The index that an arrow key, Home or End moves to; undefined for other keys. */
export function stepOf(key: string, from: number, count: number): number | undefined {
  if (count === 0) return undefined;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const step = Object.hasOwn(STEPS, key) ? STEPS[key] : undefined;
  return step === undefined ? undefined : Math.min(count - 1, Math.max(0, from + step));
}

/** Roving tabindex: one tab stop per group; the arrow keys move inside it. */
export function rovingFocus(group: Element, selector: string): void {
  group.addEventListener("keydown", (event) => {
    if (!(event instanceof KeyboardEvent) || !(event.target instanceof Element)) return;
    const items = [...group.querySelectorAll<HTMLElement | SVGElement>(selector)];
    const here = items.indexOf(event.target as HTMLElement) /* -1 for any other element */;
    const next = here === -1 ? undefined : stepOf(event.key, here, items.length);
    if (next === undefined) return;
    event.preventDefault();
    for (const [index, item] of items.entries()) item.setAttribute("tabindex", index === next ? "0" : "-1");
    items[next]?.focus();
  });
}
