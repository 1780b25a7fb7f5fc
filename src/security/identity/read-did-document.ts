import { AgentError, isObject, type JsonObject, type Maybe } from "../../envelope/index.js";
import {
  blame,
  DecodeProblem,
  optional,
  readArray,
  readBoolean,
  readObject,
  readString,
  readText,
} from "../../transport/fields.js";
import { readJson } from "../../transport/json.js";
import { readTimestamp } from "../../transport/timestamp.js";
import { didOfUrl, parseDid } from "./did.js";
import type { DidDocument, DidService } from "./did-document.js";
import type { KeyUse, PublicKey } from "./identity.js";
import { suits } from "./public-key.js";
import { repeatedMember } from "./repeated-member.js";
import { endOfMethod, keyOfMethod } from "./verification-method.js";

/** Limits of a DID document. */
export const DID_DOCUMENT_LIMITS = Object.freeze({
  bytes: 64 * 1024,
  jsonDepth: 16,
  jsonValues: 4_000,
  keys: 64,
  services: 64,
  /** One id or address. */
  chars: 2_048,
});

/** The members that list keys, and the use they stand for. */
const RELATIONS = [
  ["authentication", "authentication"],
  ["assertionMethod", "assertion"],
  ["keyAgreement", "agreement"],
] as const satisfies readonly (readonly [string, KeyUse])[];

/**
 * Reads a DID document (W3C DID Core 1.0). Keys that are expired, revoked, of unknown types or under the control of another DID are
 * left out. Throws `bad_peer` for anything malformed: a key is never guessed.
 */
export function readDidDocument(bytes: Uint8Array, did: string, now: number): DidDocument {
  try {
    if (bytes.length > DID_DOCUMENT_LIMITS.bytes)
      throw new DecodeProblem("", `has ${bytes.length} bytes; the limit is ${DID_DOCUMENT_LIMITS.bytes}`);
    const document = readObject(readJson(bytes, DID_DOCUMENT_LIMITS), "");
    const repeated = repeatedMember(new TextDecoder().decode(bytes));
    if (repeated !== undefined) throw new DecodeProblem("", `has the member ${JSON.stringify(repeated)} twice`);
    return documentOf(document, Uint8Array.from(bytes), did, now);
  } catch (thrown) {
    const { message, facts } = blame(thrown, "bad_peer");
    throw new AgentError("bad_peer", `invalid DID document of ${did.slice(0, 200)}: ${message}`, { field: facts.field ?? "" });
  }
}

/** All keys that a document lists, also of one that is out of use: to check its own proof, and nothing else. */
export function listedKeys({ bytes, id }: DidDocument, now: number): readonly PublicKey[] {
  return keysOf(readObject(readJson(bytes, DID_DOCUMENT_LIMITS), ""), id, now);
}

function documentOf(document: JsonObject, bytes: Uint8Array, did: string, now: number): DidDocument {
  const id = readText(document["id"], "id");
  if (id !== did) throw new DecodeProblem("id", `is ${JSON.stringify(id.slice(0, 200))}: this is the document of another DID`);
  const expires = optional(document["expires"], "expires", readTimestamp);
  if (expires !== undefined && expires <= now)
    throw new DecodeProblem("expires", "has passed: the document is not valid any more");
  const deactivated = optional(document["deactivated"], "deactivated", readBoolean) ?? false;
  const keys = keysOf(document, did, now);
  return {
    id,
    keys: deactivated ? [] : keys,
    services: servicesOf(document, did),
    deactivated,
    successor: optional(document["successorDid"], "successorDid", readDid),
    expires,
    bytes,
  };
}

function readDid(value: unknown, path: string): string {
  const did = readString(value, path);
  if (parseDid(did) === undefined) throw new DecodeProblem(path, "is not a DID");
  return did;
}

/** A key, and for what it is listed so far. Undefined: a method that cannot be used here. */
type Methods = Map<string, Maybe<{ readonly key: Omit<PublicKey, "uses">; readonly uses: Set<KeyUse> }>>;

function keysOf(document: JsonObject, did: string, now: number): readonly PublicKey[] {
  const methods: Methods = new Map();
  const add = (value: unknown, path: string): string => {
    const method = readObject(value, path);
    const id = readId(method["id"], `${path}.id`, did);
    if (methods.has(id)) throw new DecodeProblem(`${path}.id`, `is ${JSON.stringify(id)}, like that of another key`);
    if (methods.size >= DID_DOCUMENT_LIMITS.keys)
      throw new DecodeProblem(path, `is one key more than the limit of ${DID_DOCUMENT_LIMITS.keys}`);
    const key = keyOfMethod(method, path);
    const end = endOfMethod(method, path);
    const owner = optional(method["controller"], `${path}.controller`, readString) ?? did;
    const usable = owner === did && didOfUrl(id) === did && (end === undefined || now < end);
    methods.set(id, key && usable ? { key: { id, ...key, expires: end }, uses: new Set() } : undefined);
    return id;
  };
  optional(document["verificationMethod"], "verificationMethod", (list, path) => readArray(list, path, add));
  for (const [member, use] of RELATIONS)
    optional(document[member], member, (list, path) =>
      readArray(list, path, (value, at) => {
        const id = isObject(value) ? add(value, at) : readId(value, at, did);
        const method = methods.get(id);
        if (method !== undefined && suits(method.key.kind, use)) method.uses.add(use);
      }),
    );
  return [...methods.values()].flatMap((method) =>
    method === undefined || method.uses.size === 0 ? [] : [{ ...method.key, uses: [...method.uses] }],
  );
}

/** A DID URL; one that is only a fragment belongs to the document's own DID. */
function readId(value: unknown, path: string, did: string): string {
  const id = readText(value, path);
  if (id.length > DID_DOCUMENT_LIMITS.chars)
    throw new DecodeProblem(path, `has more than ${DID_DOCUMENT_LIMITS.chars} characters`);
  return id.startsWith("#") ? did + id : id;
}

function servicesOf(document: JsonObject, did: string): readonly DidService[] {
  const list: unknown = document["service"];
  if (Array.isArray(list) && list.length > DID_DOCUMENT_LIMITS.services)
    throw new DecodeProblem("service", `has ${list.length} entries; the limit is ${DID_DOCUMENT_LIMITS.services}`);
  const ids = new Set<string>();
  const read = (value: unknown, path: string): readonly DidService[] => {
    const service = readObject(value, path);
    const id = readId(service["id"], `${path}.id`, did);
    if (ids.has(id)) throw new DecodeProblem(`${path}.id`, `is ${JSON.stringify(id)}, like that of another service`);
    ids.add(id);
    const types: unknown = service["type"];
    const type = readText(Array.isArray(types) ? types[0] : types, `${path}.type`);
    return addressesIn(service["serviceEndpoint"], `${path}.serviceEndpoint`).map((url) => ({ id, type, url }));
  };
  return (optional(list, "service", (value, path) => readArray(value, path, read)) ?? []).flat();
}

/** An address, several, or objects whose meaning the type of the service defines; of those only `uri` is read. */
function addressesIn(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return value.slice(0, DID_DOCUMENT_LIMITS.services).flatMap((each) => addressesIn(each, path));
  if (isObject(value)) return typeof value["uri"] === "string" ? addressesIn(value["uri"], `${path}.uri`) : [];
  const url = readId(value, path, "");
  if (!URL.canParse(url)) throw new DecodeProblem(path, "is not an address");
  return [url];
}
