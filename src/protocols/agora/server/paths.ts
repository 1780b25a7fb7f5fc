import type { Maybe } from "../../../envelope/index.js";

/** The endpoint path of the seed; the Python library uses the root. Each further agent of the host has its own path below it. */
export const BASE = "/agora";

export const CONVERSATIONS = "/conversations/";
export const PROTOCOLS = "/protocols/";
/** The paths of Koine, of the specification (one word, no hyphen), and of the demonstration. */
export const WELL_KNOWN = { ours: "/.well-known/agora", spec: "/.wellknown", demo: "/wellknown" } as const;

/** Path segments below the base that cannot be agent names. */
export const RESERVED: ReadonlySet<string> = new Set([
  "conversations",
  "protocols",
  ".well-known",
  ".wellknown",
  "wellknown",
  "",
]);

/** A parsed path. */
export interface AgoraPath {
  /** Undefined if the path names no agent: the agent of the document, or the default one, is used. */
  readonly agent: Maybe<string>;
  /** The path below base and agent; empty for the message endpoint. */
  readonly rest: string;
  /** The path prefix. */
  readonly base: string;
}

/** `/…`, `/agora/…` or `/agora/{agent}/…`, with the same paths below. */
export function parsePath(path: string): AgoraPath {
  if (path !== BASE && !path.startsWith(`${BASE}/`)) return { agent: undefined, rest: path === "/" ? "" : path, base: "" };
  const below = path.slice(BASE.length);
  const [, segment = ""] = below.split("/", 2);
  if (RESERVED.has(segment)) return { agent: undefined, rest: below === "/" ? "" : below, base: BASE };
  const rest = below.slice(segment.length + 1);
  return { agent: decoded(segment), rest: rest === "/" ? "" : rest, base: `${BASE}/${segment}` };
}

/** Decodes a path segment. An invalid one stays as it is and matches nothing. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
