import {
  AgentError,
  type AgentEvent,
  type ErrorCode,
  type Handler,
  isClosing,
  type Operation,
  startCall,
} from "../src/envelope/index.js";
import { faults } from "./faults.js";
import { type Fault, type MisbehavingServer, startMisbehaving } from "./misbehaving-server.js";
import { message, outcomeOf, text } from "./scripted-host.js";

/** The outcomes a client may report for a fault. */
export interface Expectation {
  readonly fault: string;
  /** Error codes, or `answer` where the fault is harmless and the call must succeed. */
  readonly allowed: readonly (ErrorCode | "answer")[];
}

/** The result of one fault: how the client behaved. */
export interface ClientCheckResult {
  readonly fault: string;
  readonly what: string;
  readonly outcome: "met" | "unmet";
  readonly detail: string;
}

/** Options of `checkClient`. */
export interface ClientCheckOptions {
  /** The client must have its own timeout, well below `timeoutMs`. */
  connect(url: string): Promise<{ readonly handler: Handler; close?(): Promise<void> }>;
  /** A call that takes longer hangs. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 8_000;
/** The connection broke, before or during the response. */
const BROKEN = ["interrupted", "unavailable", "bad_peer"] as const;
const LARGE = ["too_large", "bad_peer"] as const;
const LATE = ["deadline", "interrupted", "unavailable", "bad_peer", "too_large"] as const;
/** Discovery needs a valid Agent Card. Without one, no protocol is known at the address. */
const NO_CARD = ["unsupported"] as const;

/** The allowed outcomes of every fault. Any other success is a false one. */
export const expectations: readonly Expectation[] = [
  { fault: "wrong-id", allowed: ["bad_peer"] },
  { fault: "negative-id", allowed: ["bad_peer"] },
  { fault: "result-and-error", allowed: ["bad_peer", "internal"] },
  { fault: "neither", allowed: ["bad_peer"] },
  { fault: "two-payloads", allowed: ["bad_peer"] },
  { fault: "no-payload", allowed: ["bad_peer"] },
  { fault: "html", allowed: ["bad_peer"] },
  { fault: "html-as-json", allowed: ["bad_peer"] },
  { fault: "plain-text", allowed: ["answer", "bad_peer"] },
  { fault: "empty", allowed: ["bad_peer"] },
  { fault: "truncated", allowed: ["bad_peer", "interrupted"] },
  { fault: "deep", allowed: LARGE },
  { fault: "invalid-utf8", allowed: ["bad_peer"] },
  { fault: "huge", allowed: LARGE },
  { fault: "proto-keys", allowed: ["answer", "bad_peer"] },
  { fault: "unknown-code", allowed: ["bad_peer", "internal"] },
  { fault: "error-without-code", allowed: ["bad_peer", "internal"] },
  { fault: "overloaded", allowed: ["overloaded", "unavailable"] },
  { fault: "unauthenticated", allowed: ["unauthenticated"] },
  { fault: "redirect", allowed: ["bad_peer", "unavailable", "not_found", "unsupported"] },
  { fault: "redirect-private", allowed: ["bad_peer", "unavailable", "not_found", "unsupported", "forbidden"] },
  { fault: "reset", allowed: BROKEN },
  { fault: "reset-after-headers", allowed: BROKEN },
  { fault: "short-body", allowed: BROKEN },
  { fault: "endless-header", allowed: LATE },
  { fault: "slow-drip", allowed: LATE },
  { fault: "silent", allowed: LATE },
  { fault: "stream-cut-mid-event", allowed: BROKEN },
  { fault: "stream-ends-mid-event", allowed: BROKEN },
  { fault: "stream-no-terminal", allowed: ["interrupted"] },
  { fault: "stream-empty", allowed: ["interrupted", "bad_peer"] },
  { fault: "stream-unknown-kind", allowed: ["answer", "bad_peer"] },
  // The official Rust server begins a stream with a status.
  { fault: "stream-status-first", allowed: ["answer", "bad_peer"] },
  { fault: "stream-other-task", allowed: ["bad_peer", "interrupted"] },
  { fault: "stream-oversized-event", allowed: LARGE },
  { fault: "stream-duplicate-final", allowed: ["answer", "bad_peer"] },
  { fault: "stream-stays-open", allowed: ["answer"] },
  { fault: "stream-garbage", allowed: ["bad_peer"] },
  { fault: "stream-wrong-id", allowed: ["bad_peer"] },
  { fault: "stream-error", allowed: ["internal", "bad_peer"] },
  { fault: "stream-reset", allowed: BROKEN },
  { fault: "stream-silent", allowed: LATE },
  { fault: "card-html", allowed: NO_CARD },
  { fault: "card-truncated", allowed: NO_CARD },
  { fault: "card-huge", allowed: ["too_large"] },
  { fault: "card-deep", allowed: NO_CARD },
  { fault: "card-closed-port", allowed: ["answer"] },
  { fault: "card-unknown-bindings", allowed: ["answer"] },
  { fault: "card-wrong-version", allowed: ["answer"] },
  // A2A 1.0 requires absolute URLs; RFC 3986 §5 says what a relative one refers to.
  { fault: "card-relative", allowed: ["answer", ...NO_CARD] },
  { fault: "card-drip", allowed: ["deadline"] },
];

/** Runs a client against every fault: one server and one call for each. */
export async function checkClient(
  options: ClientCheckOptions,
  only: readonly Expectation[] = expectations,
): Promise<readonly ClientCheckResult[]> {
  const results: ClientCheckResult[] = [];
  for (const expectation of only) results.push(await checkFault(expectation, options));
  return results;
}

/** Runs a client against one fault. */
export async function checkFault({ fault: name, allowed }: Expectation, options: ClientCheckOptions): Promise<ClientCheckResult> {
  const fault = faults.find((each) => each.name === name);
  if (fault === undefined) throw new Error(`unknown fault ${name}`);
  const server = await startMisbehaving(fault);
  try {
    const outcome = await within(options.timeoutMs ?? TIMEOUT_MS, callOnce(fault, server, options));
    const problem = problemWith(fault, server, outcome, allowed);
    return { fault: name, what: fault.what, outcome: problem === undefined ? "met" : "unmet", detail: problem ?? outcome };
  } catch (thrown) {
    return { fault: name, what: fault.what, outcome: "unmet", detail: String(thrown) };
  } finally {
    server.close();
  }
}

function problemWith(
  fault: Fault,
  server: MisbehavingServer,
  outcome: string,
  allowed: Expectation["allowed"],
): string | undefined {
  if (!allowed.some((each) => each === outcome)) return `ended with ${outcome}; allowed: ${allowed.join(", ")}`;
  if (fault.at !== "card" && server.hits() > 1) return `one call made ${server.hits()} requests`;
  if (server.canary() > 0) return "a redirect was followed";
  return "polluted" in {} ? "a prototype was changed" : undefined;
}

/** Connects, makes one call, and returns its outcome: an error code, or `answer`. */
async function callOnce(fault: Fault, { url }: MisbehavingServer, { connect }: ClientCheckOptions): Promise<string> {
  const { handler, close } = await connectOrError(connect, url);
  if (handler === undefined) return close;
  const delivery = fault.at === "stream" ? "stream" : "answer";
  const operation: Operation = { kind: "send", envelope: message([text("ping")], "user"), delivery, task: "auto" };
  const { events, error } = await outcomeOf(() => handler(operation, startCall()));
  await close?.();
  if (error !== undefined) return error.code;
  return hasEnded(events) ? "answer" : `a stream without a closing event, after ${events.length} events`;
}

type Connected =
  | { readonly handler: Handler; readonly close: (() => Promise<void>) | undefined }
  | { readonly handler: undefined; readonly close: string };

async function connectOrError(connect: ClientCheckOptions["connect"], url: string): Promise<Connected> {
  try {
    const connected = await connect(url);
    return { handler: connected.handler, close: connected.close?.bind(connected) };
  } catch (thrown) {
    if (thrown instanceof AgentError) return { handler: undefined, close: thrown.code };
    throw thrown;
  }
}

function hasEnded(events: readonly AgentEvent[]): boolean {
  const last = events.at(-1);
  return last !== undefined && isClosing(last);
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the client hangs: no outcome within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
