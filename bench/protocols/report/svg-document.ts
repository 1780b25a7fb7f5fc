import { escaped } from "../../harness/html.js";

/**
 * The part of the DOM that Observable Plot needs to draw: elements with attributes and styles, put into each other and written as text.
 * Reports are written without a browser, and a whole DOM would be larger than everything else in them.
 */

const SVG = "http://www.w3.org/2000/svg";

abstract class DrawnNode {
  parentNode: DrawnElement | null = null;
  protected constructor(readonly ownerDocument: DrawnDocument) {}
  abstract get textContent(): string;
  remove(): void {
    this.parentNode?.removeChild(this);
  }
}

class DrawnText extends DrawnNode {
  constructor(
    ownerDocument: DrawnDocument,
    readonly data: string,
  ) {
    super(ownerDocument);
  }
  override get textContent(): string {
    return this.data;
  }
  override toString(): string {
    return escaped(this.data);
  }
}

/** Written once by the page instead of in every chart. */
const LEFT_OUT = new Set(["style"]);

class DrawnElement extends DrawnNode {
  readonly childNodes: DrawnNode[] = [];
  readonly #attributes = new Map<string, string>();
  readonly #styles = new Map<string, string>();
  readonly style = {
    setProperty: (name: string, value: unknown): void => void this.#styles.set(name, String(value)),
    removeProperty: (name: string): void => void this.#styles.delete(name),
  };

  constructor(
    ownerDocument: DrawnDocument,
    readonly namespaceURI: string,
    readonly tagName: string,
  ) {
    super(ownerDocument);
  }

  setAttribute(name: string, value: unknown): void {
    // A chart is one picture with one label; those of its groups ("dot", "rule") say nothing.
    if (!name.startsWith("aria-")) this.#attributes.set(name, String(value));
  }
  setAttributeNS(_space: string, name: string, value: unknown): void {
    this.setAttribute(name, value);
  }
  getAttribute(name: string): string | null {
    return this.#attributes.get(name) ?? null;
  }
  hasAttribute(name: string): boolean {
    return this.#attributes.has(name);
  }
  removeAttribute(name: string): void {
    this.#attributes.delete(name);
  }

  get firstChild(): DrawnNode | null {
    return this.childNodes[0] ?? null;
  }
  get children(): readonly DrawnElement[] {
    return this.childNodes.filter((child) => child instanceof DrawnElement);
  }
  appendChild<T extends DrawnNode>(child: T): T {
    return this.insertBefore(child, null);
  }
  append(...children: readonly (DrawnNode | string)[]): void {
    for (const child of children) this.appendChild(typeof child === "string" ? this.ownerDocument.createTextNode(child) : child);
  }
  insertBefore<T extends DrawnNode>(child: T, before: DrawnNode | null): T {
    child.remove();
    const at = before === null ? -1 : this.childNodes.indexOf(before);
    this.childNodes.splice(at < 0 ? this.childNodes.length : at, 0, child);
    child.parentNode = this;
    return child;
  }
  removeChild<T extends DrawnNode>(child: T): T {
    this.childNodes.splice(this.childNodes.indexOf(child), 1);
    child.parentNode = null;
    return child;
  }
  override get textContent(): string {
    return this.childNodes.map((child) => child.textContent).join("");
  }
  override set textContent(text: string) {
    this.childNodes.length = 0;
    this.append(String(text));
  }

  override toString(): string {
    if (LEFT_OUT.has(this.tagName)) return "";
    const styles = [...this.#styles].map(([name, value]) => `${name}:${value}`).join(";");
    const attributes = [...this.#attributes, ...(styles === "" ? [] : [["style", styles] as const])];
    const written = attributes.map(([name, value]) => ` ${name}="${escaped(value)}"`).join("");
    return `<${this.tagName}${written}>${this.childNodes.join("")}</${this.tagName}>`;
  }
}

/** A document that makes elements and nothing else. */
export class DrawnDocument {
  readonly documentElement = new DrawnElement(this, "http://www.w3.org/1999/xhtml", "html");
  createElementNS(space: string, name: string): DrawnElement {
    return new DrawnElement(this, space, name);
  }
  createElement(name: string): DrawnElement {
    return new DrawnElement(this, SVG, name);
  }
  createTextNode(text: string): DrawnText {
    return new DrawnText(this, text);
  }
}
