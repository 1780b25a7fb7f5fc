/** Attributes and listeners of an element. */
export interface Given {
  readonly class?: string | undefined;
  readonly on?: { readonly [event: string]: (event: Event) => void };
  readonly [attribute: string]: unknown;
}

export type Child = Node | string | number | false | undefined;

const SVG = "http://www.w3.org/2000/svg";

/** Creates an HTML element. Text becomes text nodes: content from the wire is never parsed as markup. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  given: Given = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return configure(document.createElement(tag), given, children);
}

/** Creates an SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  given: Given = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return configure(document.createElementNS(SVG, tag), given, children);
}

function configure<T extends Element>(element: T, given: Given, children: readonly Child[]): T {
  const { on = {}, ...attributes } = given;
  for (const [name, value] of Object.entries(attributes)) attribute(element, name, value);
  for (const [event, run] of Object.entries(on)) element.addEventListener(event, run);
  fill(element, ...children);
  return element;
}

/** Sets an attribute, or removes it if the value is false or undefined. Writes only changes. */
export function attribute(element: Element, name: string, value: unknown): void {
  if (value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? "" : String(value));
}

/** Replaces all children. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...children.filter((child) => child !== false && child !== undefined).map(nodeOf));
}

const nodeOf = (child: Node | string | number): Node => (child instanceof Node ? child : document.createTextNode(String(child)));

/** Sets the text only if it changed, so that selections and screen readers are not disturbed. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A keyed list: elements are reused, so that focus, selection and scroll position survive an update. */
export class Keyed<T, E extends Element> {
  readonly #parent: Element;
  readonly #key: (item: T) => string;
  readonly #create: (item: T) => E;
  readonly #update: (element: E, item: T) => void;
  #elements = new Map<string, E>();

  constructor(parent: Element, parts: { key(item: T): string; create(item: T): E; update(element: E, item: T): void }) {
    this.#parent = parent;
    this.#key = (item) => parts.key(item);
    this.#create = (item) => parts.create(item);
    this.#update = (element, item) => parts.update(element, item);
  }

  show(items: readonly T[]): void {
    const before = this.#elements;
    this.#elements = new Map();
    for (const item of items) {
      const key = this.#key(item);
      const element = before.get(key) ?? this.#create(item);
      before.delete(key);
      this.#update(element, item);
      this.#elements.set(key, element);
    }
    for (const gone of before.values()) gone.remove();
    let next: Element | null = this.#parent.firstElementChild;
    for (const element of this.#elements.values()) {
      if (element === next) next = next.nextElementSibling;
      else this.#parent.insertBefore(element, next);
    }
  }

  get(key: string): E | undefined {
    return this.#elements.get(key);
  }
}

/** The element with this id; index.html must declare it. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}
