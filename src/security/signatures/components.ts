import type { Maybe } from "../../envelope/index.js";
import type { HttpHeaders } from "../../transport/exchange.js";
import { splitTarget } from "../../transport/request.js";
import { SignatureError } from "./signature-error.js";
import { dictionaryText, type FieldItem, FieldSyntaxError, parseDictionary, parseItem, parseList } from "./structured-fields.js";

/** The fields of one message. */
export interface MessageFields {
  /** Lower-case names, repeated fields joined. */
  readonly headers: HttpHeaders;
  /** Name, value, name, value, as received: for `;bs`. Default: one line for each header. */
  readonly rawHeaders?: Maybe<readonly string[]>;
  readonly trailers?: Maybe<HttpHeaders>;
}

export interface SignedRequest extends MessageFields {
  readonly method: string;
  /** The absolute URL that the request is for: of a server, the one that its callers use. */
  readonly target: string;
}

export interface SignedResponse extends MessageFields {
  readonly status: number;
}

/** What a signature is about: a request, or a response together with the request that it answers. */
export interface SignedMessage {
  readonly request: SignedRequest;
  readonly response?: Maybe<SignedResponse>;
}

export type FieldType = "dictionary" | "list" | "item";

/** A component that a signature covers. */
export interface Component {
  /** The name, in lower case. */
  readonly name: string;
  /** The identifier as it is written and signed: `"content-digest";req`. */
  readonly text: string;
  /** Equal for equal components, whatever the order of their parameters. */
  readonly key: string;
  /** RFC 9421 §2.5: the identifier, the value in this message, and the end of the line. */
  lineIn(message: SignedMessage): string;
}

/** Types of fields that `;sf` may be used with. */
const FIELD_TYPES: { readonly [name: string]: FieldType } = {
  "accept-signature": "dictionary",
  "content-digest": "dictionary",
  "repr-digest": "dictionary",
  signature: "dictionary",
  "signature-input": "dictionary",
  priority: "dictionary",
  "cache-status": "list",
  "client-cert": "item",
};

const FIELD_NAME = /^[a-z0-9!#$%&'*+\-.^_`|~]+$/;
const PRINTABLE = /^[\t\x20-\x7e]*$/;

/** RFC 9421 §2.2. */
const DERIVED: { readonly [name: string]: (request: SignedRequest) => string } = {
  "@method": ({ method }) => method,
  "@target-uri": ({ target }) => target,
  "@authority": ({ target }) => partsOf(target).authority,
  "@scheme": ({ target }) => schemeOf(target),
  "@request-target": ({ target }) => {
    const { path, query } = splitTarget(target);
    return query === "" ? path : `${path}?${query}`;
  },
  "@path": ({ target }) => partsOf(target).path,
  "@query": ({ target }) => partsOf(target).query,
};

interface TargetParts {
  readonly target: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
}

/** Of the last target: a signature covers several parts of the same one, and the next is usually for the same address. */
let last: Maybe<TargetParts>;

function partsOf(target: string): TargetParts {
  if (target === last?.target) return last;
  const { path, query } = splitTarget(target);
  last = { target, authority: authorityOf(target), path, query: `?${query}` };
  return last;
}

/** Component parameters, and what their value must be. */
const PARAMETERS: { readonly [name: string]: "boolean" | "string" } = {
  sf: "boolean",
  bs: "boolean",
  tr: "boolean",
  req: "boolean",
  key: "string",
  name: "string",
};

/** Reads a component identifier. Throws `unknown_component` with its name. */
export function componentOf(item: FieldItem): Component {
  const { bare, parameters, text } = item;
  if (bare.type !== "string") throw new SignatureError("malformed", "a component name is a string");
  const name = bare.value;
  for (const [parameter, { type, value }] of parameters) {
    const wanted = Object.hasOwn(PARAMETERS, parameter) ? PARAMETERS[parameter] : undefined;
    if (wanted === undefined) throw unknown(text, `the parameter ${parameter} is not defined`);
    if (type !== wanted || value === false) throw unknown(text, `the parameter ${parameter} has a value of the wrong type`);
  }
  const parts = Array.from(parameters, ([parameter, { text: value }]) => `;${parameter}=${value}`);
  const key = parts.length < 2 ? text : name + parts.toSorted().join("");
  const read = name.startsWith("@") ? derivedReader(item, name) : fieldReader(item, name);
  return { name, text, key, lineIn: parameters.has("req") ? ofRequest(text, read) : ofTarget(text, read) };
}

/** A component identifier as it is written: `"@method"`, or `@method` without the quotes. */
export function parseComponent(identifier: string): Component {
  return componentOf(parseItem(identifier.startsWith('"') ? identifier : `"${identifier}"`));
}

type Reader = (source: SignedRequest | SignedResponse) => string;

/** `;req`: from the request that a response answers. */
function ofRequest(text: string, read: Reader): Component["lineIn"] {
  const lineOf = lines(text);
  return ({ request, response }) => {
    if (response === undefined) throw unknown(text, "the parameter req is for responses");
    return lineOf(read(request));
  };
}

function ofTarget(text: string, read: Reader): Component["lineIn"] {
  const lineOf = lines(text);
  return ({ request, response }) => lineOf(read(response ?? request));
}

/** Longer values are not remembered. */
const KNOWN_VALUE_CHARS = 256;

/** The line of a value. The last one is remembered: most components are the same in the next message. */
function lines(text: string): (value: string) => string {
  let known: Maybe<string>;
  let line = "";
  return (value) => {
    if (value === known) return line;
    const made = `${text}: ${checked(text, value)}\n`;
    if (value.length > KNOWN_VALUE_CHARS) return made;
    known = value;
    line = made;
    return made;
  };
}

/** A value must not add lines to what is signed. */
function checked(text: string, value: string): string {
  if (PRINTABLE.test(value)) return value;
  const unfolded = value.replace(/[ \t]*\r?\n[ \t]+/g, " ");
  if (!PRINTABLE.test(unfolded))
    throw new SignatureError("malformed", `the value of ${text} has characters that cannot be signed`);
  return unfolded;
}

function derivedReader({ parameters, text }: FieldItem, name: string): Reader {
  for (const parameter of parameters.keys())
    if (parameter !== "req" && !(parameter === "name" && name === "@query-param"))
      throw unknown(text, `the parameter ${parameter} is for header fields`);
  if (name === "@status") {
    if (parameters.size > 0) throw unknown(text, "a request has no status");
    return (source) => ("status" in source ? String(source.status) : absent(text));
  }
  const of = name === "@query-param" ? queryParameter(text, parameters.get("name")?.value) : ownDerived(text, name);
  return (source) => {
    if ("status" in source) throw unknown(text, "in a response it needs the parameter req");
    return of(source);
  };
}

function ownDerived(text: string, name: string): (request: SignedRequest) => string {
  const of = Object.hasOwn(DERIVED, name) ? DERIVED[name] : undefined;
  if (of === undefined) throw unknown(text, "there is no such component");
  return of;
}

/** RFC 9421 §2.2.8: a name that occurs twice cannot be signed this way. */
function queryParameter(text: string, encoded: unknown): (request: SignedRequest) => string {
  if (typeof encoded !== "string") throw unknown(text, "it needs the parameter name");
  return ({ target }) => {
    const found = Array.from(new URLSearchParams(splitTarget(target).query)).filter(([name]) => formEncoded(name) === encoded);
    const [only, second] = found;
    if (only === undefined) return absent(text);
    if (second !== undefined) throw new SignatureError("ambiguous", `${text} occurs more than once in the query`);
    return formEncoded(only[1]);
  };
}

function formEncoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function fieldReader({ parameters, text }: FieldItem, name: string): Reader {
  if (!FIELD_NAME.test(name)) throw unknown(text, "a field name is written in lower case");
  if (parameters.has("name")) throw unknown(text, "the parameter name is for @query-param");
  const [sf, bs, tr, key] = [parameters.has("sf"), parameters.has("bs"), parameters.has("tr"), parameters.get("key")?.value];
  if (bs && (sf || key !== undefined)) throw unknown(text, "the parameter bs cannot be combined with sf or key");
  if (bs && tr) throw unknown(text, "trailers arrive combined, so bs cannot be used");
  if (bs) return (source) => wrappedLines(linesOf(source, name)) ?? absent(text);
  const plain: Reader = (source) => ownField(tr ? source.trailers : source.headers, name)?.trim() ?? absent(text);
  if (typeof key === "string") return (source) => strictly(text, () => memberText(plain(source), key) ?? absent(text));
  const type = Object.hasOwn(FIELD_TYPES, name) ? FIELD_TYPES[name] : undefined;
  if (sf && type === undefined) throw unknown(text, "the type of this field is not known, so sf cannot be used");
  return type === undefined || !sf ? plain : (source) => strictly(text, () => STRICT[type](plain(source)));
}

const STRICT: { readonly [T in FieldType]: (value: string) => string } = {
  dictionary: (value) => dictionaryText(parseDictionary(value)),
  list: (value) =>
    parseList(value)
      .map((member) => member.text)
      .join(", "),
  item: (value) => parseItem(value).text,
};

function memberText(value: string, key: string): Maybe<string> {
  return parseDictionary(value).get(key)?.text;
}

function strictly(text: string, read: () => string): string {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof FieldSyntaxError)) throw thrown;
    throw new SignatureError("malformed", `the field of ${text} is not a valid structured field: ${thrown.message}`);
  }
}

/** RFC 9421 §2.1.3: each line as a byte sequence. */
function wrappedLines(lines: readonly string[]): Maybe<string> {
  if (lines.length === 0) return undefined;
  return lines.map((line) => `:${Buffer.from(line.trim(), "latin1").toString("base64")}:`).join(", ");
}

/** Fields may have the names of what every object inherits. */
function ownField(fields: Maybe<HttpHeaders>, name: string): Maybe<string> {
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** A message that is being written has one line for each field. */
function linesOf({ headers, rawHeaders }: MessageFields, name: string): readonly string[] {
  const joined = ownField(headers, name);
  if (rawHeaders === undefined || joined === undefined) return joined === undefined ? [] : [joined];
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}

/** RFC 9110 §4.2.3: the host in lower case, without the default port. */
function authorityOf(target: string): string {
  const { origin } = splitTarget(target);
  const authority = origin.slice(origin.indexOf("://") + 3).toLowerCase();
  const usual = schemeOf(target) === "https" ? ":443" : ":80";
  return authority.endsWith(usual) ? authority.slice(0, -usual.length) : authority;
}

function schemeOf(target: string): string {
  return target.slice(0, target.indexOf("://")).toLowerCase();
}

function absent(text: string): never {
  throw new SignatureError("absent_component", `the message has no ${text}, which the signature covers`);
}

function unknown(text: string, why: string): SignatureError {
  return new SignatureError("unknown_component", `the component ${text} cannot be covered: ${why}`);
}
