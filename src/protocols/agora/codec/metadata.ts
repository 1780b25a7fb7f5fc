import {
  AgentError,
  type Envelope,
  isProtected,
  type JsonObject,
  type Maybe,
  readUte,
  writeUte,
} from "../../../envelope/index.js";
import { DecodeProblem, optional, readObject, readString, readText } from "../../../transport/fields.js";
import type { WireMetadata, WireReceipt } from "../wire.js";

const NONE: WireMetadata = Object.freeze({});
/** Content has the limits of its body; no part is externalized here. */
const WHOLE = Object.freeze({ inlineBytes: Number.POSITIVE_INFINITY });

/** Reads the seed's names, in `metadata` or beside the official members, and the Koine members, in `metadata` only. */
export function readMetadata(wire: JsonObject): WireMetadata {
  const value = wire["metadata"];
  const own = value === undefined || value === null ? undefined : readObject(value, "metadata");
  if (own === undefined && !hasSeedNames(wire)) return NONE;
  const metadata = own ?? NO_MEMBERS;
  return {
    koine: metadata["koine"] === 1 ? 1 : undefined,
    request_id: seedText(metadata, wire, "request_id"),
    source: seedText(metadata, wire, "source"),
    target: seedText(metadata, wire, "target"),
    trace_id: seedText(metadata, wire, "trace_id"),
    idempotency_key: seedText(metadata, wire, "idempotency_key"),
    session: seedText(metadata, wire, "session"),
    envelope: optional(metadata["envelope"], "metadata.envelope", readObject),
    receipt: optional(metadata["receipt"], "metadata.receipt", readReceipt),
    task: optional(metadata["task"], "metadata.task", readObject),
    prefer: metadata["prefer"] === "receipt" ? "receipt" : undefined,
    cancel: optional(metadata["cancel"], "metadata.cancel", readText),
    code: optional(metadata["code"], "metadata.code", readString),
    detail: optional(metadata["detail"], "metadata.detail", readObject),
  };
}

const NO_MEMBERS: JsonObject = Object.freeze({});
const SEED_NAMES = ["request_id", "source", "target", "trace_id", "idempotency_key", "session"] as const;

function hasSeedNames(wire: JsonObject): boolean {
  for (const name of SEED_NAMES) if (wire[name] !== undefined) return true;
  return false;
}

function seedText(metadata: JsonObject, wire: JsonObject, name: (typeof SEED_NAMES)[number]): Maybe<string> {
  const inside = metadata[name];
  // Fast path for the most frequent value: no path string is built.
  if (typeof inside === "string") return inside;
  if (inside !== undefined && inside !== null) return readString(inside, `metadata.${name}`);
  const beside = wire[name];
  return beside === undefined || beside === null ? undefined : readString(beside, name);
}

function readReceipt(value: unknown, path: string): WireReceipt {
  const object = readObject(value, path);
  return { id: readText(object["id"], `${path}.id`), state: optional(object["state"], `${path}.state`, readString) };
}

/** The full envelope, if present and consistent with the body. A changed body takes precedence, unless the envelope is signed or sealed. */
export function carriedEnvelope({ envelope }: WireMetadata, isBody: (carried: Envelope) => boolean): Maybe<Envelope> {
  if (envelope === undefined) return undefined;
  const carried = orProblem("metadata.envelope", () => readUte(envelope));
  if (isBody(carried)) return carried;
  if (isProtected(carried)) throw new DecodeProblem("metadata.envelope", "is signed or sealed, and the body differs from it");
  return undefined;
}

/** The UTE JSON reader reports caller errors; here the data may come from the peer. */
export function orProblem<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof AgentError) throw new DecodeProblem(path, thrown.message);
    throw thrown;
  }
}

/** The envelope to write beside the body. */
export function writeCarried(envelope: Envelope): JsonObject {
  return writeUte(envelope, WHOLE);
}
