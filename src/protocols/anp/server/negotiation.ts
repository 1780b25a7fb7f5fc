import { isObject, type Json, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { sha256 } from "../../../security/hashes.js";
import { canonicalJson } from "../../../security/json-canonical.js";
import { optional, readArray, readObject, readString, readText } from "../../../transport/fields.js";
import { writeTimestamp } from "../../../transport/timestamp.js";
import type { Addresses } from "../codec/description.js";
import { CONTENT_TYPES, DIRECT_PROFILE, TRANSPORT_PROTECTED } from "../codec/direct.js";
import { METHODS } from "../wire.js";

/** What an agent offers, best first. ANP-06 §5: the caller's lists select among these, in our order unless it prefers others. */
const INTERFACES = ["StructuredInterface", "NaturalLanguageInterface"] as const;
const MODES = ["direct_structured_call", "stream", "async_task", "direct_message"] as const;
const PROFILES = ["anp.core.binding.v1", DIRECT_PROFILE, "anp.meta.negotiation.v1"] as const;
const VALID_MS = 3_600_000;

/** The answer to `anp.get_capabilities`. */
export function capabilities(did: Maybe<string>, maxBytes: number): JsonObject {
  return {
    service_did: did,
    supported_profiles: PROFILES,
    supported_security_profiles: [TRANSPORT_PROTECTED],
    limits: { max_request_bytes: String(maxBytes), max_message_bytes: String(maxBytes) },
    supported_content_types: CONTENT_TYPES,
  };
}

/** What a negotiation is decided by. */
export interface Offer {
  readonly at: Addresses;
  readonly skills: readonly string[];
  readonly nowMs: number;
  newId(): string;
}

/** The answer to `anp.negotiate` (ANP-06 1.2): by rules alone, so that the same request gets the same selection. */
export function negotiate(body: JsonObject, offer: Offer): JsonObject {
  const intent = readObject(body["intent"], "params.body.intent");
  readText(intent["name"], "params.body.intent.name");
  const id = optional(body["negotiation_id"], "params.body.negotiation_id", readText) ?? offer.newId();
  const caller = optional(body["callerCapabilities"], "params.body.callerCapabilities", readObject) ?? {};
  const constraints = optional(body["constraints"], "params.body.constraints", readObject) ?? {};
  const missing = unmet(body, caller, constraints, offer);
  if (missing !== undefined) return { negotiationId: id, status: "rejected", reason: missing };
  const mode = first(MODES, texts(caller["supportedExecutionModes"], "supportedExecutionModes"));
  const contentType = first(
    CONTENT_TYPES,
    texts(constraints["preferredContentTypes"] ?? caller["supportedContentTypes"], "supportedContentTypes"),
  );
  const selected: JsonObject = {
    capability: skillFor(intent, offer.skills),
    interface: mode === "direct_message" ? "direct.send" : METHODS.send,
    protocol: "openrpc",
    profile: mode === "direct_message" ? DIRECT_PROFILE : "anp.core.binding.v1",
    securityProfile: TRANSPORT_PROTECTED,
    contentType,
    url: offer.at.rpc,
  };
  const execution: JsonObject = { mode };
  return {
    negotiationId: id,
    status: "accepted",
    selected,
    execution,
    validUntil: writeTimestamp(offer.nowMs + VALID_MS),
    negotiationDigest: `sha-256=:${Buffer.from(sha256(canonicalJson(defined({ selected: defined(selected), execution })))).toString("base64")}:`,
  };
}

/** Why nothing suits the caller; undefined if something does. */
function unmet(body: JsonObject, caller: JsonObject, constraints: JsonObject, { skills }: Offer): Maybe<string> {
  const required = constraints["requiredSecurityProfile"];
  const security =
    required === undefined ? texts(caller["supportedSecurityProfiles"], "supportedSecurityProfiles") : [String(required)];
  if (security.length > 0 && !security.includes(TRANSPORT_PROTECTED))
    return `no security profile in common: offered is ${TRANSPORT_PROTECTED}`;
  const modes = texts(caller["supportedExecutionModes"], "supportedExecutionModes");
  if (modes.length > 0 && !modes.some((mode) => MODES.some((own) => own === mode))) return "no execution mode in common";
  const types = texts(caller["supportedContentTypes"], "supportedContentTypes");
  if (types.length > 0 && !types.some((type) => CONTENT_TYPES.some((own) => own === type))) return "no content type in common";
  const interfaces = texts(constraints["preferredInterfaceTypes"], "preferredInterfaceTypes");
  if (interfaces.length > 0 && !interfaces.some((type) => INTERFACES.some((own) => own === type)))
    return "no interface in common";
  const wanted = texts(body["requiredCapabilities"], "requiredCapabilities").find((name) => !skills.includes(name));
  return wanted === undefined ? undefined : `there is no capability ${wanted.slice(0, 100)}`;
}

/** The first of ours that the caller has too; without a list, our first. */
function first<T extends string>(own: readonly [T, ...T[]] | readonly T[], theirs: readonly string[]): Maybe<T> {
  return theirs.length === 0 ? own[0] : own.find((each) => theirs.includes(each));
}

function skillFor(intent: JsonObject, skills: readonly string[]): Maybe<string> {
  const named = [intent["name"], ...(Array.isArray(intent["intentTags"]) ? (intent["intentTags"] as readonly Json[]) : [])];
  return skills.find((skill) => named.includes(skill)) ?? skills[0];
}

/** A list of names, or of objects with a name. */
function texts(value: Maybe<Json>, name: string): readonly string[] {
  return (
    optional(value, name, (list, path) =>
      readArray(list, path, (each, at) => readString(isObject(each) ? each["name"] : each, at)),
    ) ?? []
  );
}

function defined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
