import type { Maybe } from "../../../envelope/index.js";
import { decodeSegment } from "../../../transport/address-parts.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { isUuid } from "../codec.js";

/** The operation of a method and path. */
export type Wanted =
  | { readonly kind: "ping" }
  | { readonly kind: "agents" }
  | { readonly kind: "agent"; readonly name: string }
  | { readonly kind: "discovery" }
  | { readonly kind: "run.create" }
  | { readonly kind: "run.read" | "run.resume" | "run.cancel" | "run.events"; readonly runId: string }
  | { readonly kind: "session"; readonly sessionId: string }
  | { readonly kind: "resource"; readonly runId: string; readonly index: number };

export type PathMatch = Wanted | { readonly allow: readonly string[] };

export const DISCOVERY_PATH = "/.well-known/agent.yml";

/**
 * The id of a message resource: run id and index, because random ids would have to be stored. SDK servers use a bare UUID, which
 * is well formed but unknown here.
 */
const RESOURCE = /^([0-9a-f-]{36})(?:\.(\d{1,6}))?$/i;
const NO_MESSAGE = "-1";

/**
 * The paths of the BeeAI ACP 0.2.0 OpenAPI document, and those that the SDK serves in addition. HEAD is handled as GET. Undefined
 * for unknown paths; an id that must be a UUID and is not throws.
 */
export function matchPath(method: string, path: string): Maybe<PathMatch> {
  if (path === DISCOVERY_PATH) return reading(method, () => ({ kind: "discovery" }));
  const segments = path.slice(1).split("/");
  const [first, second = "", third] = segments;
  switch (segments.length) {
    case 1:
      return matchRoot(method, first);
    case 2:
      return matchNamed(method, first, second);
    case 3:
      return first === "runs" ? matchOfRun(method, second, third) : undefined;
    default:
      return undefined;
  }
}

function matchRoot(method: string, first: Maybe<string>): Maybe<PathMatch> {
  if (first === "ping") return reading(method, () => ({ kind: "ping" }));
  if (first === "agents") return reading(method, () => ({ kind: "agents" }));
  return first === "runs" ? writing(method, { kind: "run.create" }) : undefined;
}

function matchNamed(method: string, first: Maybe<string>, second: string): Maybe<PathMatch> {
  switch (first) {
    case "agents":
      return reading(method, () => ({ kind: "agent", name: decodeSegment(second) }));
    case "runs":
      if (method === "GET") return { kind: "run.read", runId: uuid("run_id", second) };
      return method === "POST" ? { kind: "run.resume", runId: uuid("run_id", second) } : { allow: ["GET", "HEAD", "POST"] };
    case "session": // the OpenAPI document
    case "sessions": // every SDK
      return reading(method, () => ({ kind: "session", sessionId: uuid("session_id", second) }));
    case "resources":
      return reading(method, () => readResource(second));
    default:
      return undefined;
  }
}

function matchOfRun(method: string, run: string, verb: Maybe<string>): Maybe<PathMatch> {
  if (verb === "events") return reading(method, () => ({ kind: "run.events", runId: uuid("run_id", run) }));
  if (verb !== "cancel") return undefined;
  return method === "POST" ? { kind: "run.cancel", runId: uuid("run_id", run) } : { allow: ["POST"] };
}

function reading(method: string, wanted: () => Wanted): PathMatch {
  return method === "GET" ? wanted() : { allow: ["GET", "HEAD"] };
}

function writing(method: string, wanted: Wanted): PathMatch {
  return method === "POST" ? wanted : { allow: ["POST"] };
}

function readResource(segment: string): Wanted {
  const [, runId = "", index = NO_MESSAGE] = RESOURCE.exec(segment) ?? [];
  if (!isUuid(runId)) throw new DecodeProblem("resource_id", "must be the id of a run, a dot and a number");
  return { kind: "resource", runId: runId.toLowerCase(), index: Number(index) };
}

function uuid(field: string, value: string): string {
  if (isUuid(value)) return value.toLowerCase();
  throw new DecodeProblem(field, "must be a UUID");
}
