import { isObject, type Json, type JsonObject, type Maybe, type Metadata } from "../../../envelope/index.js";
import { optional, readObject } from "../../../transport/fields.js";
import type { WirePartMetadata } from "../wire.js";
import { koinePath } from "./koine-members.js";

/** Unknown members of a part, kept in its metadata for hops within ACP. */
const EXTRAS = "acp";

type Check = (value: Json) => boolean;
const isText: Check = (value) => typeof value === "string";
const isWhole: Check = (value) => Number.isSafeInteger(value);
const isAny: Check = (value) => isObject(value);
const KINDS = {
  citation: { start_index: isWhole, end_index: isWhole, url: isText, title: isText, description: isText },
  trajectory: { message: isText, tool_name: isText, tool_input: isAny, tool_output: isAny },
} as const satisfies { readonly [kind: string]: { readonly [member: string]: Check } };
type Kind = keyof typeof KINDS;

/** The metadata of a part: its citation or trajectory, and the Koine members. */
export function readPartMetadata(
  wire: JsonObject,
  known: ReadonlySet<string>,
  path: string,
  carriedMembers: Maybe<Json>,
): Maybe<Metadata> {
  const metadata = wire.metadata === null ? undefined : wire.metadata;
  const rest = carriedMembers === undefined ? undefined : readObject(carriedMembers, koinePath(path, "metadata"));
  const extras = extrasOf(wire, known);
  if (metadata === undefined && extras === undefined) return rest;
  const members = optional(metadata, `${path}.metadata`, readObject);
  return {
    ...rest,
    ...(members === undefined ? undefined : named(members)),
    ...(extras === undefined ? undefined : { [EXTRAS]: extras }),
  };
}

/** Other kinds are rejected by both SDKs; here they are kept unchanged. */
function named(metadata: JsonObject): Metadata {
  const { kind } = metadata;
  if (kind !== "citation" && kind !== "trajectory") return metadata;
  const known = Object.entries(metadata).filter(([name, value]) => name !== "kind" && value !== null);
  // fromEntries defines members, it does not assign them.
  return { [kind]: Object.fromEntries(known) };
}

function extrasOf(wire: JsonObject, known: ReadonlySet<string>): Maybe<JsonObject> {
  for (const name in wire) {
    if (known.has(name)) continue;
    return Object.fromEntries(Object.entries(wire).filter(([each]) => !known.has(each)));
  }
  return undefined;
}

interface SplitMetadata {
  /** The members that ACP defines. */
  readonly metadata: WirePartMetadata | null;
  readonly extras: Maybe<JsonObject>;
  /** The members carried by the Koine extension. */
  readonly rest: Maybe<JsonObject>;
}
const NOTHING: SplitMetadata = Object.freeze({ metadata: null, extras: undefined, rest: undefined });

/** One citation or trajectory step is written as ACP metadata; everything else as a Koine member. */
export function splitMetadata(metadata: Maybe<Metadata>, known: ReadonlySet<string>): SplitMetadata {
  if (metadata === undefined) return NOTHING;
  const kind = isOfKind(metadata, "citation") ? "citation" : isOfKind(metadata, "trajectory") ? "trajectory" : undefined;
  const value = kind === undefined ? undefined : metadata[kind];
  const outer = metadata[EXTRAS];
  const extras = isObject(outer) && isForeign(Object.keys(outer), known) ? outer : undefined;
  const rest = Object.entries(metadata).filter(([name]) => name !== kind && (name !== EXTRAS || extras === undefined));
  return {
    metadata: kind === undefined || !isObject(value) ? null : { kind, ...value },
    extras,
    rest: rest.length === 0 && (kind !== undefined || extras !== undefined) ? undefined : Object.fromEntries(rest),
  };
}

function isForeign(names: readonly string[], known: ReadonlySet<string>): boolean {
  return names.length > 0 && names.every((name) => !known.has(name));
}

/** The SDKs reject members of another type, and read null as absent. */
function isOfKind(metadata: Metadata, kind: Kind): boolean {
  const value = metadata[kind];
  if (!isObject(value) || "kind" in value) return false;
  const checks: { readonly [member: string]: Check } = KINDS[kind];
  return Object.entries(value).every(([name, member]) => {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    return member !== undefined && member !== null && (check === undefined || check(member));
  });
}
