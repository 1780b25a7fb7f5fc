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

/** What a client must make of a fault: one of these errors, or the answer after all. */
export interface Expectation {
  readonly fault: string;
  /** `answer` where the fault does no harm and the client has to cope. */
  readonly allowed: readonly (ErrorCode | "answer")[];
}

export interface ClientCheckResult {
  readonly fault: string;
  readonly what: string;
  readonly outcome: "met" | "unmet";
  readonly detail: string;
}

export interface ClientCheckOptions {
  /** Must give up by itself on a peer that says nothing, well within `timeoutMs`. */
  connect(url: string): Promise<{ readonly handler: Handler; close?(): Promise<void> }>;
  /** Longer than this is hanging. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 8_000;
/** The connection broke, with or without a part of the answer. */
const BROKEN = ["interrupted", "unavailable", "bad_peer"] as const;
const LARGE = ["too_large", "bad_peer"] as const;
const LATE = ["deadline", "interrupted", "unavailable", "bad_peer", "too_large"] as const;
const NO_PEER = [
  "unavailable",
  "bad_peer",
  "not_found",
  "unsupported",
  "unsupported_version",
  "decode",
  "too_large",
  "deadline",
] as const;

/** For every fault what is allowed. A success that is not listed is a false one. */
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
  { fault: "stream-status-first", allowed: ["bad_peer"] },
  { fault: "stream-other-task", allowed: ["bad_peer", "interrupted"] },
  { fault: "stream-oversized-event", allowed: LARGE },
  { fault: "stream-duplicate-final", allowed: ["answer", "bad_peer"] },
  { fault: "stream-stays-open", allowed: ["answer"] },
  { fault: "stream-garbage", allowed: ["bad_peer"] },
  { fault: "stream-wrong-id", allowed: ["bad_peer"] },
  { fault: "stream-error", allowed: ["internal", "bad_peer"] },
  { fault: "stream-reset", allowed: BROKEN },
  { fault: "stream-silent", allowed: LATE },
  { fault: "card-html", allowed: NO_PEER },
  { fault: "card-truncated", allowed: NO_PEER },
  { fault: "card-huge", allowed: NO_PEER },
  { fault: "card-deep", allowed: NO_PEER },
  { fault: "card-closed-port", allowed: ["answer"] },
  { fault: "card-unknown-bindings", allowed: ["answer"] },
  { fault: "card-wrong-version", allowed: ["answer"] },
  { fault: "card-relative", allowed: ["answer", ...NO_PEER] },
  { fault: "card-drip", allowed: NO_PEER },
];

/** Runs a client against every fault. One fault, one server, one call. */
export async function checkClient(
  options: ClientCheckOptions,
  only: readonly Expectation[] = expectations,
): Promise<readonly ClientCheckResult[]> {
  const verdicts: ClientCheckResult[] = [];
  for (const expectation of only) verdicts.push(await checkFault(expectation, options));
  return verdicts;
}

/** Runs a client against one fault. */
export async function checkFault({ fault: name, allowed }: Expectation, options: ClientCheckOptions): Promise<ClientCheckResult> {
  const fault = faults.find((each) => each.name === name);
  if (fault === undefined) throw new Error(`there is no fault named ${name}`);
  const server = await startMisbehaving(fault);
  try {
    const seen = await within(options.timeoutMs ?? TIMEOUT_MS, provoke(fault, server, options));
    const problem = judge(fault, server, seen, allowed);
    return { fault: name, what: fault.what, outcome: problem === undefined ? "met" : "unmet", detail: problem ?? seen };
  } catch (thrown) {
    return { fault: name, what: fault.what, outcome: "unmet", detail: String(thrown) };
  } finally {
    server.close();
  }
}

function judge(fault: Fault, server: MisbehavingServer, seen: string, allowed: Expectation["allowed"]): string | undefined {
  if (!allowed.some((each) => each === seen)) return `ended with ${seen}; allowed: ${allowed.join(", ")}`;
  if (fault.at !== "card" && server.hits() > 1) return `one call made ${server.hits()} requests`;
  if (server.canary() > 0) return "a redirect was followed";
  return "polluted" in {} ? "a prototype was changed" : undefined;
}

/** Connects, makes one call, and says what came of it. */
async function provoke(fault: Fault, { url }: MisbehavingServer, { connect }: ClientCheckOptions): Promise<string> {
  const { handler, close } = await connectOrError(connect, url);
  if (handler === undefined) return close;
  const delivery = fault.at === "stream" ? "stream" : "answer";
  const operation: Operation = { kind: "send", envelope: message([text("ping")], "user"), delivery, task: "auto" };
  const { events, error } = await outcomeOf(() => handler(operation, startCall()));
  await close?.();
  if (error !== undefined) return error.code;
  return endedWell(events) ? "answer" : `an end without a closing event after ${events.length}`;
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

function endedWell(events: readonly AgentEvent[]): boolean {
  const last = events.at(-1);
  return last !== undefined && isClosing(last);
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the client hangs: nothing within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
