import { AgentError, isObject, type Json, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { parseDid } from "../../../security/identity/index.js";
import { bytesOf } from "../../../transport/body.js";
import type { Chunk } from "../../../transport/exchange.js";
import { handshakeError } from "./handshake-error.js";
import { KEY_BYTES, NONCE_BYTES, SESSION_LIMITS } from "./profile.js";

/** The first message, in clear and not signed: what it says is signed with the answer to it. */
export interface ClientHello {
  readonly type: "clientHello";
  readonly version: "1";
  /** The profiles that the client accepts, best first. */
  readonly profiles: readonly string[];
  readonly did: string;
  /** The DID URL of the key that will sign. */
  readonly keyId: string;
  /** The DID that the server must prove. */
  readonly to: string;
  /** Host and port of the address that the client opened, and its path. */
  readonly authority: string;
  readonly path: string;
  /** Base64url, 32 bytes each. */
  readonly ephemeral: string;
  readonly nonce: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The answer, in clear and signed. */
export interface ServerHello {
  readonly type: "serverHello";
  readonly version: "1";
  readonly profile: string;
  readonly did: string;
  readonly keyId: string;
  readonly ephemeral: string;
  readonly nonce: string;
  readonly at: number;
}

const MAX_PROFILES = 16;
const SIGNATURE_BYTES = 64;
const MAX_CHARS = 1_024;

/** Reads the first message. Throws a handshake error. */
export function readClientHello(frame: Chunk): ClientHello {
  const wire = objectIn(textOf(frame));
  if (wire["type"] !== "clientHello" || wire["version"] !== "1")
    throw handshakeError("malformed", 'the first message is not a clientHello of version "1"');
  const { profiles } = wire;
  if (!Array.isArray(profiles) || profiles.length > MAX_PROFILES) throw malformed("profiles");
  return {
    type: "clientHello",
    version: "1",
    profiles: profiles.map((each: Json) => textIn(each, "profiles")),
    ...identityIn(wire),
    to: didIn(wire, "to"),
    authority: memberOf(wire, "authority"),
    path: memberOf(wire, "path"),
    ...freshIn(wire),
  };
}

export interface SignedHello {
  /** As signed: the text itself, not what it means. */
  readonly text: string;
  readonly hello: ServerHello;
  readonly signature: Uint8Array;
}

export function writeServerHello(hello: ServerHello): string {
  return JSON.stringify(hello);
}

export function writeSignedHello(text: string, signature: Uint8Array): string {
  return JSON.stringify({ hello: text, signature: toBase64url(signature) });
}

/** Reads the answer. Throws a handshake error, also for a refusal of the server. */
export function readSignedHello(frame: Chunk): SignedHello {
  const outer = objectIn(textOf(frame));
  const { error, hello: text, signature } = outer;
  if (isObject(error)) throw refusalIn(error);
  if (typeof text !== "string") throw malformed("hello");
  const wire = objectIn(text);
  if (wire["type"] !== "serverHello" || wire["version"] !== "1") throw malformed("hello.type");
  const hello: ServerHello = {
    type: "serverHello",
    version: "1",
    profile: memberOf(wire, "profile"),
    ...identityIn(wire),
    ...freshIn(wire),
  };
  return { text, hello, signature: bytesIn(signature, "signature", SIGNATURE_BYTES) };
}

/** What the client proves in its first record. */
export function writeFinish(signature: Uint8Array): string {
  return JSON.stringify({ type: "finish", signature: toBase64url(signature) });
}

export function readFinish(text: string): Uint8Array {
  const wire = objectIn(text);
  if (wire["type"] !== "finish") throw malformed("type");
  return bytesIn(wire["signature"], "signature", SIGNATURE_BYTES);
}

/** The first record of the server: the client is known, and calls may begin. */
export function writeAccepted(): string {
  return JSON.stringify({ type: "accepted" });
}

export function readAccepted(text: string): void {
  const wire = objectIn(text);
  if (isObject(wire["error"])) throw refusalIn(wire["error"]);
  if (wire["type"] !== "accepted") throw malformed("type");
}

function refusalIn(error: JsonObject): Error {
  const data = isObject(error["data"]) ? error["data"] : {};
  const details = isObject(data["details"]) ? data["details"] : {};
  const reason = [details["reason"], data["code"]].find((each) => typeof each === "string") ?? "no reason given";
  const message = typeof error["message"] === "string" ? error["message"].slice(0, MAX_CHARS) : "no message";
  // It may succeed later, whoever asks.
  if (data["code"] === "unavailable" || data["code"] === "overloaded") return new AgentError(data["code"], message);
  return handshakeError("refused_by_peer", `the peer refused the handshake (${String(reason).slice(0, 100)}): ${message}`);
}

function identityIn(wire: JsonObject): Pick<ClientHello, "did" | "keyId"> {
  const did = didIn(wire, "did");
  const keyId = memberOf(wire, "keyId");
  if (!keyId.startsWith(`${did}#`)) throw handshakeError("malformed", "keyId is not a key of did");
  return { did, keyId };
}

function freshIn(wire: JsonObject): Pick<ClientHello, "ephemeral" | "nonce" | "at"> {
  const { at } = wire;
  const ephemeral = memberOf(wire, "ephemeral");
  const nonce = memberOf(wire, "nonce");
  bytesIn(ephemeral, "ephemeral", KEY_BYTES);
  bytesIn(nonce, "nonce", NONCE_BYTES);
  if (typeof at !== "number" || !Number.isSafeInteger(at)) throw malformed("at");
  return { ephemeral, nonce, at };
}

function didIn(wire: JsonObject, name: string): string {
  const did = memberOf(wire, name);
  if (parseDid(did) === undefined) throw malformed(name);
  return did;
}

function memberOf(wire: JsonObject, name: string): string {
  return textIn(wire[name], name);
}

function textIn(value: unknown, name: string): string {
  if (typeof value !== "string" || value === "" || value.length > MAX_CHARS) throw malformed(name);
  return value;
}

/** Exactly that many bytes, in the one spelling that base64url without padding has for them. */
export function bytesIn(value: unknown, name: string, length: number): Uint8Array {
  const bytes = typeof value === "string" && value.length <= MAX_CHARS ? Buffer.from(value, "base64url") : undefined;
  if (bytes === undefined || bytes.length !== length || bytes.toString("base64url") !== value) throw malformed(name);
  return bytes;
}

export function toBase64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}

/** Bounded before anything is parsed. */
function textOf(frame: Chunk): string {
  if (typeof frame !== "string") throw handshakeError("malformed", "the messages of a handshake are texts");
  if (bytesOf(frame).length > SESSION_LIMITS.helloBytes)
    throw handshakeError("malformed", `a message of a handshake has at most ${SESSION_LIMITS.helloBytes} bytes`);
  return frame;
}

function objectIn(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const object: Maybe<JsonObject> = isObject(value) ? value : undefined;
  if (object === undefined) throw handshakeError("malformed", "a message of a handshake is a JSON object");
  return object;
}

function malformed(name: string): Error {
  return handshakeError("malformed", `${name} is missing or invalid in the handshake`);
}
