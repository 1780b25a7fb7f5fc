import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { parseDid } from "../../../security/identity/index.js";
import { HandshakeError } from "./handshake-error.js";

/** The messages of handshakes are closed objects: exactly these members, each with one spelling. */

type Reader<T> = (value: unknown, name: string) => T;
export type Shape = { readonly [name: string]: Reader<unknown> };
/** The object that a shape reads. */
export type Shaped<S extends Shape> = { readonly [name in keyof S]: ReturnType<S[name]> };

const MAX_CHARS = 512;
/** DIDs, ids of keys and names of suites have no others. */
const PRINTABLE = /^[!-~]+$/;
const MAX_SUITES = 16;
const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** The year 9999. */
const MAX_SECONDS = 253_402_300_799;

/** Reads a message. Throws `HandshakeError`. What is signed is the canonical JSON of the result. */
export function readShape<S extends Shape>(shape: S, value: unknown): Shaped<S> {
  if (!isObject(value)) throw malformed("a JSON object is expected");
  const read: { [name: string]: unknown } = {};
  for (const [name, reader] of Object.entries(shape)) read[name] = reader(own(value, name), name);
  for (const name of Object.keys(value))
    if (!Object.hasOwn(shape, name)) throw malformed(`${JSON.stringify(name.slice(0, 100))} is not expected`);
  return read as Shaped<S>; // each member by its reader
}

function own(value: JsonObject, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

export function exactly<T extends string>(word: T): Reader<T> {
  return (value, name) => {
    if (value === word) return word;
    throw name === "v" ? new HandshakeError("version.unsupported", `${word} is expected`) : malformed(`${name} must be ${word}`);
  };
}

/** One of the words of an algorithm: others are a matter of negotiation, not of form. */
export function suiteNamed<T extends string>(word: T): Reader<T> {
  return (value, name) => {
    if (value === word) return word;
    if (typeof value === "string") throw new HandshakeError("handshake.suite", `${name} must be ${word}`);
    throw malformed(`${name} must be a text`);
  };
}

export const text: Reader<string> = (value, name) => {
  if (typeof value === "string" && value.length <= MAX_CHARS && PRINTABLE.test(value)) return value;
  throw malformed(`${name} must be 1 to ${MAX_CHARS} printable characters of ASCII`);
};

export const suiteList: Reader<readonly string[]> = (value, name) => {
  if (Array.isArray(value) && value.length > 0 && value.length <= MAX_SUITES)
    return value.map((each: unknown, index) => text(each, `${name}[${index}]`));
  throw malformed(`${name} must be a list of 1 to ${MAX_SUITES} texts`);
};

export const did: Reader<string> = (value, name) => {
  const read = text(value, name);
  if (parseDid(read) === undefined) throw malformed(`${name} must be a DID`);
  return read;
};

export const uuid4: Reader<string> = (value, name) => {
  if (typeof value === "string" && UUID4.test(value)) return value;
  throw malformed(`${name} must be a UUID of version 4, in lower case`);
};

export const seconds: Reader<number> = (value, name) => {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_SECONDS) return value;
  throw malformed(`${name} must be whole seconds since the epoch`);
};

/** Exactly that many bytes, in the one spelling that base64url without padding has for them. */
export function base64urlOf(bytes: number): Reader<string> {
  return (value, name) => {
    const decoded: Maybe<Buffer> = typeof value === "string" && value.length <= MAX_CHARS ? decode(value) : undefined;
    if (decoded?.length === bytes && encode(decoded) === value) return value;
    throw malformed(`${name} must be ${bytes} bytes in base64url without padding`);
  };
}

export function decode(value: string): Buffer {
  return Buffer.from(value, "base64url");
}

export function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}

/** Ids of keys name their DID. */
export function checkKeyOf(keyId: string, did: string, name: string): void {
  if (!keyId.startsWith(`${did}#`)) throw malformed(`${name} is not a key of ${did}`);
}

function malformed(what: string): HandshakeError {
  return new HandshakeError("handshake.malformed", what);
}
