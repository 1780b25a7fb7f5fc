/**
 * Structured fields of RFC 8941. Each member keeps its text, which signatures cover: the received text, or its canonical form if it
 * has spaces or spellings that RFC 8941 removes.
 */

/** A value without parameters. `bytes` holds base64. */
export type BareItem =
  | { readonly type: "integer" | "decimal"; readonly value: number; readonly text: string }
  | { readonly type: "string" | "token" | "bytes"; readonly value: string; readonly text: string }
  | { readonly type: "boolean"; readonly value: boolean; readonly text: string };

/** In received order. */
export type FieldParameters = ReadonlyMap<string, BareItem>;

export interface FieldItem {
  readonly bare: BareItem;
  readonly parameters: FieldParameters;
  readonly text: string;
}

export interface InnerList {
  readonly items: readonly FieldItem[];
  readonly parameters: FieldParameters;
  readonly text: string;
}

export type FieldMember = FieldItem | InnerList;

/** The text is not the structured field that was expected. */
export class FieldSyntaxError extends Error {}

/** A key occurs twice. RFC 8941 lets the last one win; a signature must not depend on that. */
export class DuplicateKeyError extends FieldSyntaxError {
  readonly key: string;

  constructor(key: string) {
    super(`the key ${key} occurs twice`);
    this.key = key;
  }
}

/** `duplicates`: whether the last of several equal keys wins or a `DuplicateKeyError` is thrown. */
export function parseDictionary(text: string, duplicates: "last" | "refuse" = "last"): ReadonlyMap<string, FieldMember> {
  return new FieldReader(text, duplicates === "refuse").dictionary();
}

export function parseList(text: string): readonly FieldMember[] {
  return new FieldReader(text, false).list();
}

export function parseItem(text: string): FieldItem {
  return new FieldReader(text, false).onlyItem();
}

export function isInnerList(member: FieldMember): member is InnerList {
  return "items" in member;
}

/** RFC 8941 §4.1.2. */
export function dictionaryText(dictionary: ReadonlyMap<string, FieldMember>): string {
  return Array.from(dictionary, ([key, member]) => key + memberText(member)).join(", ");
}

/** The value true is written by its key alone. */
function memberText(member: FieldMember): string {
  return isInnerList(member) || member.bare !== TRUE ? `=${member.text}` : member.text.slice(TRUE.text.length);
}

/** A string as RFC 8941 §4.1.6 writes it. Throws for characters that it cannot hold. */
export function stringText(value: string): string {
  if (!/^[\x20-\x7e]*$/.test(value)) throw new FieldSyntaxError("a string has ASCII characters only");
  return `"${value.includes('"') || value.includes("\\") ? value.replace(/["\\]/g, "\\$&") : value}"`;
}

const TRUE: BareItem = { type: "boolean", value: true, text: "?1" };
const FALSE: BareItem = { type: "boolean", value: false, text: "?0" };
const NO_PARAMETERS: FieldParameters = new Map();

const SPACE = 0x20;
const TAB = 0x09;
const QUOTE = 0x22;
const OPEN = 0x28;
const CLOSE = 0x29;
const COMMA = 0x2c;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const QUESTION = 0x3f;
const BACKSLASH = 0x5c;

const KEY = /[a-z*][a-z0-9_\-.*]*/y;
const NUMBER = /-?(\d{1,15}(?![\d.])|\d{1,12}\.\d{1,3}(?![\d.]))/y;
const TOKEN = /[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*/y;
const PLAIN_STRING = /"[\x20\x21\x23-\x5b\x5d-\x7e]*"/y;
const BYTES = /:(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?:/y;

class FieldReader {
  readonly #text: string;
  readonly #noDuplicates: boolean;
  #at = 0;
  /** Whether what was read since the start of the member is in canonical form. */
  #canonical = true;

  constructor(text: string, noDuplicates: boolean) {
    this.#text = text;
    this.#noDuplicates = noDuplicates;
    this.#skipSpaces();
  }

  dictionary(): ReadonlyMap<string, FieldMember> {
    const members = new Map<string, FieldMember>();
    while (!this.#isEnd()) {
      const key = this.#match(KEY, "a key");
      if (this.#noDuplicates && members.has(key)) throw new DuplicateKeyError(key);
      members.set(key, this.#skip(EQUALS) ? this.#member() : this.#flag());
      this.#comma();
    }
    return members;
  }

  list(): readonly FieldMember[] {
    const members: FieldMember[] = [];
    while (!this.#isEnd()) {
      members.push(this.#member());
      this.#comma();
    }
    return members;
  }

  onlyItem(): FieldItem {
    const item = this.#item();
    this.#skipSpaces();
    if (!this.#isEnd()) throw this.#unexpected("the end");
    return item;
  }

  #member(): FieldMember {
    return this.#code() === OPEN ? this.#innerList() : this.#item();
  }

  #flag(): FieldItem {
    const parameters = this.#parameters();
    return { bare: TRUE, parameters, text: `?1${parametersText(parameters)}` };
  }

  #innerList(): InnerList {
    const start = this.#at++;
    const items: FieldItem[] = [];
    let canonical = !this.#skipExtra(0);
    while (!this.#skip(CLOSE)) {
      items.push(this.#item());
      canonical &&= this.#canonical;
      const code = this.#code();
      if (code !== SPACE && code !== CLOSE) throw this.#unexpected("a space or )");
      if (this.#skipExtra(1) || (code === SPACE && this.#code() === CLOSE)) canonical = false;
    }
    this.#canonical = true;
    const parameters = this.#parameters();
    if (canonical && this.#canonical) return { items, parameters, text: this.#text.slice(start, this.#at) };
    const text = `(${items.map((item) => item.text).join(" ")})${parametersText(parameters)}`;
    return { items, parameters, text };
  }

  #item(): FieldItem {
    const start = this.#at;
    this.#canonical = true;
    const bare = this.#bareItem();
    const parameters = this.#parameters();
    if (this.#canonical) return { bare, parameters, text: this.#text.slice(start, this.#at) };
    return { bare, parameters, text: bare.text + parametersText(parameters) };
  }

  #parameters(): FieldParameters {
    if (this.#code() !== SEMICOLON) return NO_PARAMETERS;
    const parameters = new Map<string, BareItem>();
    while (this.#skip(SEMICOLON)) {
      if (this.#skipExtra(0)) this.#canonical = false;
      const name = this.#match(KEY, "the name of a parameter");
      if (parameters.has(name)) {
        if (this.#noDuplicates) throw new DuplicateKeyError(name);
        this.#canonical = false;
      }
      const written = this.#skip(EQUALS);
      const value = written ? this.#bareItem() : TRUE;
      if (written && value === TRUE) this.#canonical = false;
      parameters.set(name, value);
    }
    return parameters;
  }

  #bareItem(): BareItem {
    const code = this.#code();
    if (code === QUOTE) return this.#string();
    if (code === COLON) {
      const text = this.#match(BYTES, "base64 between colons");
      return { type: "bytes", value: text.slice(1, -1), text };
    }
    if (code === QUESTION) return this.#boolean();
    if ((code >= 0x30 && code <= 0x39) || code === 0x2d) return this.#number();
    const text = this.#match(TOKEN, "a value");
    return { type: "token", value: text, text };
  }

  #string(): BareItem {
    PLAIN_STRING.lastIndex = this.#at;
    const plain = PLAIN_STRING.exec(this.#text)?.[0];
    if (plain !== undefined) {
      this.#at += plain.length;
      return { type: "string", value: plain.slice(1, -1), text: plain };
    }
    const start = this.#at++;
    let value = "";
    for (;;) {
      let code = this.#code();
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        this.#at++;
        code = this.#code();
        if (code !== QUOTE && code !== BACKSLASH) throw this.#unexpected('\\" or \\\\');
      } else if (!(code >= 0x20 && code <= 0x7e)) throw this.#unexpected("the end of a string");
      value += String.fromCharCode(code);
      this.#at++;
    }
    this.#at++;
    return { type: "string", value, text: this.#text.slice(start, this.#at) };
  }

  #boolean(): BareItem {
    const text = this.#text.slice(this.#at, this.#at + 2);
    if (text !== "?1" && text !== "?0") throw this.#unexpected("?0 or ?1");
    this.#at += 2;
    return text === "?1" ? TRUE : FALSE;
  }

  #number(): BareItem {
    const received = this.#match(NUMBER, "a number of at most 15 digits");
    const value = Number(received);
    const decimal = received.includes(".");
    const text = decimal && Number.isInteger(value) ? value.toFixed(1) : String(value);
    if (text !== received) this.#canonical = false;
    return { type: decimal ? "decimal" : "integer", value, text };
  }

  /** Between members; a comma at the end is an error. */
  #comma(): void {
    this.#skipBlanks();
    if (this.#isEnd()) return;
    if (!this.#skip(COMMA)) throw this.#unexpected("a comma");
    this.#skipBlanks();
    if (this.#isEnd()) throw this.#unexpected("another member");
  }

  #match(pattern: RegExp, wanted: string): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw this.#unexpected(wanted);
    this.#at += found.length;
    return found;
  }

  #skip(code: number): boolean {
    if (this.#code() !== code) return false;
    this.#at++;
    return true;
  }

  /** Skips spaces and says whether there were more than the canonical form has. */
  #skipExtra(canonical: number): boolean {
    const start = this.#at;
    this.#skipSpaces();
    return this.#at - start > canonical;
  }

  #skipSpaces(): void {
    while (this.#code() === SPACE) this.#at++;
  }

  #skipBlanks(): void {
    for (let code = this.#code(); code === SPACE || code === TAB; code = this.#code()) this.#at++;
  }

  #isEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** NaN at the end. */
  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  #unexpected(wanted: string): FieldSyntaxError {
    return new FieldSyntaxError(`${wanted} was expected at character ${this.#at + 1}`);
  }
}

function parametersText(parameters: FieldParameters): string {
  let text = "";
  for (const [name, bare] of parameters) text += bare === TRUE ? `;${name}` : `;${name}=${bare.text}`;
  return text;
}
