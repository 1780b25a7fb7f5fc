import type { Maybe } from "../../../envelope/index.js";

/** The seed's name for the endpoint; the library's is the root. Below it each further agent of the host has its own. */
export const BASE = "/agora";

export const CONVERSATIONS = "/conversations/";
export const PROTOCOLS = "/protocols/";
/** Ours, the specification's (one word, no hyphen), and the demonstration's. */
export const WELL_KNOWN = { ours: "/.well-known/agora", spec: "/.wellknown", demo: "/wellknown" } as const;

/** First segments below the base that can name no agent. */
export const RESERVED: ReadonlySet<string> = new Set([
  "conversations",
  "protocols",
  ".well-known",
  ".wellknown",
  "wellknown",
  "",
]);

/** What a path means. */
export interface Where {
  /** Undefined where no agent is named: then a document's agent is meant, or the default one. */
  readonly agent: Maybe<string>;
  /** The path without the base and the agent; empty for the place where messages go. */
  readonly rest: string;
  /** The path prefix. */
  readonly base: string;
}

/** `/…`, `/agora/…` or `/agora/{agent}/…`, all with the same below. */
export function whereIn(path: string): Where {
  if (path !== BASE && !path.startsWith(`${BASE}/`)) return { agent: undefined, rest: path === "/" ? "" : path, base: "" };
  const below = path.slice(BASE.length);
  const [, segment = ""] = below.split("/", 2);
  if (RESERVED.has(segment)) return { agent: undefined, rest: below === "/" ? "" : below, base: BASE };
  const rest = below.slice(segment.length + 1);
  return { agent: decoded(segment), rest: rest === "/" ? "" : rest, base: `${BASE}/${segment}` };
}

/** A piece of a path as it is meant; one that is broken stays as it is, and is found nowhere. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
