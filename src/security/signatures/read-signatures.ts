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
    components: items.map(knownComponent),
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
