import type { Maybe } from "../../envelope/index.js";
import type { HttpHeaders } from "../../transport/exchange.js";
import { type Component, componentOf } from "./components.js";
import type { SignatureParameter, SignatureProfile } from "./profile.js";
import { SignatureError } from "./signature-error.js";
import {
  DuplicateKeyError,
  type FieldItem,
  type FieldMember,
  FieldSyntaxError,
  type InnerList,
  isInnerList,
  parseDictionary,
} from "./structured-fields.js";

/** Limits of the signatures of one message. */
const LIMITS = Object.freeze({
  /** Characters of Signature-Input, and of Signature. */
  fieldChars: 8_192,
  signatures: 8,
  components: 64,
  keyIdChars: 512,
  nonceChars: 256,
});

/** A signature as it was received. Nothing is verified yet. */
export interface ReceivedSignature {
  readonly label: string;
  readonly components: readonly Component[];
  /** The value of `@signature-params`: the received text, with its order of parameters. */
  readonly text: string;
  readonly signature: Uint8Array;
  /** Seconds since the epoch. */
  readonly created: Maybe<number>;
  readonly expires: Maybe<number>;
  readonly nonce: Maybe<string>;
  readonly alg: Maybe<string>;
  readonly keyid: Maybe<string>;
  readonly tag: Maybe<string>;
}

/** The one signature of a message that counts for a profile. */
export function readSignature(headers: HttpHeaders, profile: SignatureProfile): ReceivedSignature {
  const { "signature-input": input, signature: values } = headers;
  if (input === undefined || values === undefined)
    throw new SignatureError("missing", "the message has no Signature-Input and Signature fields");
  const usual = readUsual(input, values, profile);
  if (usual !== undefined) return usual;
  const inputs = parseField("Signature-Input", input);
  const [label, list] = onlyOne(matching(inputs, profile));
  const value = parseField("Signature", values).get(label);
  if (value === undefined) throw new SignatureError("missing", `the field Signature has no label ${label}`);
  if (isInnerList(value) || value.bare.type !== "bytes")
    throw new SignatureError("malformed", `the signature ${label} is not a byte sequence`);
  return read(label, list, Buffer.from(value.bare.value, "base64"));
}

function parseField(name: string, text: string): ReadonlyMap<string, FieldMember> {
  if (text.length > LIMITS.fieldChars)
    throw new SignatureError("too_large", `${name} has at most ${LIMITS.fieldChars} characters`);
  let members: ReadonlyMap<string, FieldMember>;
  try {
    members = parseDictionary(text, "refuse");
  } catch (thrown) {
    if (thrown instanceof DuplicateKeyError) throw new SignatureError("duplicate_label", `${name}: ${thrown.message}`);
    if (thrown instanceof FieldSyntaxError) throw new SignatureError("malformed", `${name} is not valid: ${thrown.message}`);
    throw thrown;
  }
  if (members.size > LIMITS.signatures)
    throw new SignatureError("too_large", `${name} has at most ${LIMITS.signatures} signatures`);
  return members;
}

type Labelled = readonly [label: string, list: InnerList];

/** Signatures of others are ignored where a tag or a label tells them apart. */
function matching(inputs: ReadonlyMap<string, FieldMember>, { label, onlyLabel, tag }: SignatureProfile): readonly Labelled[] {
  const found: Labelled[] = [];
  for (const [name, member] of inputs) {
    if (!isInnerList(member)) throw new SignatureError("malformed", `the signature ${name} has no list of components`);
    if (onlyLabel === true && name !== label) continue;
    if (tag !== undefined && member.parameters.get("tag")?.value !== tag) continue;
    found.push([name, member]);
  }
  return found;
}

function onlyOne([first, second]: readonly Labelled[]): Labelled {
  if (first === undefined) throw new SignatureError("missing", "the message has no signature with the required label and tag");
  if (second !== undefined)
    throw new SignatureError("ambiguous", `the message has several signatures: ${first[0]} and ${second[0]}`);
  return first;
}

function read(label: string, { items, parameters, text }: InnerList, signature: Uint8Array): ReceivedSignature {
  if (items.length > LIMITS.components)
    throw new SignatureError("too_large", `a signature covers at most ${LIMITS.components} components`);
  const keyid = stringOf(parameters, "keyid");
  const nonce = stringOf(parameters, "nonce");
  if ((keyid?.length ?? 0) > LIMITS.keyIdChars)
    throw new SignatureError("too_large", `keyid has at most ${LIMITS.keyIdChars} characters`);
  if ((nonce?.length ?? 0) > LIMITS.nonceChars)
    throw new SignatureError("too_large", `nonce has at most ${LIMITS.nonceChars} characters`);
  return {
    label,
    components: componentsOf(items),
    text,
    signature,
    created: timeOf(parameters, "created"),
    expires: timeOf(parameters, "expires"),
    nonce,
    alg: stringOf(parameters, "alg"),
    keyid,
    tag: stringOf(parameters, "tag"),
  };
}

/** Lists of components that were read before, by their canonical text. Once full, others are read each time. */
const knownLists = new Map<string, readonly Component[]>();
const KNOWN_LISTS = 64;
const KNOWN_LIST_CHARS = 512;

function componentsOf(items: readonly FieldItem[]): readonly Component[] {
  const text = `(${items.map((item) => item.text).join(" ")})`;
  const before = knownLists.get(text);
  if (before !== undefined) return before;
  const components = items.map(knownComponent);
  if (text.length <= KNOWN_LIST_CHARS && knownLists.size < KNOWN_LISTS) knownLists.set(text, components);
  return components;
}

/** The parameters as this library writes them, in their canonical form. */
const USUAL_PARAMETERS =
  /^;created=(0|[1-9]\d{0,14});expires=(0|[1-9]\d{0,14});nonce="([ !#-[\]-~]{0,256})";keyid="([ !#-[\]-~]{0,512})"(?:;alg="([ !#-[\]-~]*)")?(?:;tag="([ !#-[\]-~]*)")?$/;
const USUAL_NONCE = /^[ !#-[\]-~]{0,256}$/;
const USUAL_VALUE = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The last signature in its usual form, with its text before and after the nonce. */
let last: Maybe<{
  readonly profile: SignatureProfile;
  readonly head: string;
  readonly tail: string;
  readonly received: ReceivedSignature;
}>;

/** A signature that differs from the last one in its nonce and its value only, as the next one of its sender does within a second. */
function readAgain(input: string, values: string, profile: SignatureProfile): Maybe<ReceivedSignature> {
  if (last?.profile !== profile) return undefined;
  const { head, tail, received } = last;
  if (input.length < head.length + tail.length || !input.startsWith(head) || !input.endsWith(tail)) return undefined;
  const nonce = input.slice(head.length, input.length - tail.length);
  const signature = usualValue(values, profile.label);
  if (signature === undefined || !USUAL_NONCE.test(nonce)) return undefined;
  const { label, components, created, expires, alg, keyid, tag } = received;
  // One literal: it is made for every message.
  return { label, components, text: input.slice(label.length + 1), signature, created, expires, nonce, alg, keyid, tag };
}

/** The bytes of a signature that is alone in its field. */
function usualValue(values: string, label: string): Maybe<Uint8Array> {
  const start = label.length;
  if (!values.startsWith(label) || !values.startsWith("=:", start) || !values.endsWith(":")) return undefined;
  const value = values.slice(start + 2, -1);
  return USUAL_VALUE.test(value) ? Buffer.from(value, "base64") : undefined;
}

/** One signature in its usual form, over components that were read before: the same result without the parser. Undefined: parse it. */
function readUsual(input: string, values: string, profile: SignatureProfile): Maybe<ReceivedSignature> {
  if (input.length > LIMITS.fieldChars || values.length > LIMITS.fieldChars) return undefined;
  const again = readAgain(input, values, profile);
  if (again !== undefined) return again;
  const { label, tag: wanted } = profile;
  const start = label.length + 1;
  if (!input.startsWith(label) || input[start - 1] !== "=") return undefined;
  const end = input.indexOf(")", start) + 1;
  const components = knownLists.get(input.slice(start, end));
  if (components === undefined) return undefined;
  const parameters = USUAL_PARAMETERS.exec(input.slice(end));
  const signature = usualValue(values, label);
  if (parameters === null || signature === undefined) return undefined;
  const [, created, expires, nonce = "", keyid, alg, tag] = parameters;
  if (wanted !== undefined && tag !== wanted) return undefined;
  const text = input.slice(start);
  const times = { created: Number(created), expires: Number(expires) };
  const received = { label, components, text, signature, ...times, nonce, alg, keyid, tag };
  const head = input.slice(0, input.indexOf(';nonce="', end) + ';nonce="'.length);
  last = { profile, head, tail: input.slice(head.length + nonce.length), received };
  return received;
}

/** Components that were read before: senders repeat theirs. Once full, others are read each time. */
const known = new Map<string, Component>();
const KNOWN_COMPONENTS = 256;
const KNOWN_CHARS = 64;

function knownComponent(item: FieldItem): Component {
  const { text } = item;
  const before = known.get(text);
  if (before !== undefined) return before;
  const component = componentOf(item);
  if (text.length <= KNOWN_CHARS && known.size < KNOWN_COMPONENTS) known.set(text, component);
  return component;
}

type Parameters = InnerList["parameters"];

function stringOf(parameters: Parameters, name: SignatureParameter): Maybe<string> {
  const bare = parameters.get(name);
  if (bare === undefined) return undefined;
  if (bare.type !== "string") throw new SignatureError("malformed", `the parameter ${name} is a string`);
  return bare.value;
}

/** The parser allows 15 digits, which is exact in a double and in milliseconds. */
function timeOf(parameters: Parameters, name: SignatureParameter): Maybe<number> {
  const bare = parameters.get(name);
  if (bare === undefined) return undefined;
  if (bare.type !== "integer" || bare.value < 0)
    throw new SignatureError("bad_time", `the parameter ${name} is the number of seconds since 1970`);
  return bare.value;
}
