import { AgentError, type Cancel, type Maybe } from "../src/envelope/index.js";
import type { Protocol } from "../src/protocols/protocol.js";
import type { ConformanceArea, Hook, Requirement, Subject } from "../src/protocols/requirement.js";
import type { Session } from "../src/transport/exchange.js";
import { isOnLoopback, openHook } from "./hook.js";

/** RFC 6455 §7.4.1. */
const GOING_AWAY = 1001;

/** The outcome of one requirement. A known gap that is met now is stale, so that the list can only shrink. */
export type Outcome = "met" | "unmet" | "skipped" | "known gap" | "stale gap";

/** One line of a report. */
export interface RequirementResult {
  readonly id: string;
  readonly protocol: string;
  readonly wire: Maybe<{ readonly version: string; readonly binding: string }>;
  readonly capability: ConformanceArea;
  readonly level: Requirement["level"];
  readonly source: string;
  readonly behaviour: string;
  readonly outcome: Outcome;
  /** What was observed, why it was skipped, or why the gap is known. */
  readonly detail: Maybe<string>;
  readonly durationMs: number;
}

/** The result of a run. `schema` changes when a member changes its meaning. */
export interface Report {
  readonly schema: 1;
  readonly url: string;
  readonly verdicts: readonly RequirementResult[];
  readonly counts: { readonly [outcome in Outcome]: number };
  /** No requirement of level `must` is unmet and no known gap is stale. */
  readonly conforms: boolean;
}

/** Requirement id to the reason it is not met. An id may end in `*`. */
export interface KnownGaps {
  readonly [id: string]: string;
}

/** Options of `runConformance`. */
export interface RunOptions {
  /** Requirements that are expected to fail, with the reason. Default: none. */
  readonly knownGaps?: Maybe<KnownGaps>;
  /** Ids or prefixes of ids. Default: all. */
  readonly only?: Maybe<readonly string[]>;
  /** For one requirement. Default: 10 s. */
  readonly timeoutMs?: Maybe<number>;
  /** Called after each requirement. */
  readonly onProgress?: Maybe<(result: RequirementResult, done: number, total: number) => void>;
  /** Milliseconds, for durations only. */
  readonly now?: Maybe<() => number>;
}

const TIMEOUT_MS = 10_000;

/** Runs the requirements of the given protocols against one subject, one after another. */
export async function runConformance(
  subject: Subject,
  protocols: readonly Pick<Protocol, "id" | "requirements">[],
  options: RunOptions = {},
): Promise<Report> {
  const only = options.only ?? [""];
  const loaded = await Promise.all(
    protocols.map(async ({ id, requirements }) => ({ id, requirements: (await requirements?.()) ?? [] })),
  );
  const chosen = loaded.flatMap(({ id, requirements }) =>
    requirements
      .filter((requirement) => only.some((beginning) => requirement.id.startsWith(beginning)))
      .map((requirement) => ({ protocol: id, requirement })),
  );
  const watched = watch(subject);
  const verdicts: RequirementResult[] = [];
  for (const { protocol, requirement } of chosen) {
    const result = await verify(requirement, protocol, watched, options);
    watched.endAll();
    verdicts.push(result);
    options.onProgress?.(result, verdicts.length, chosen.length);
  }
  return toReport(subject.url, verdicts);
}

function toReport(url: string, verdicts: readonly RequirementResult[]): Report {
  const counts = { met: 0, unmet: 0, skipped: 0, "known gap": 0, "stale gap": 0 };
  for (const { outcome } of verdicts) counts[outcome]++;
  const failed = verdicts.some(({ outcome, level }) => outcome === "stale gap" || (outcome === "unmet" && level === "must"));
  return { schema: 1, url, verdicts, counts, conforms: !failed };
}

async function verify(
  requirement: Requirement,
  protocol: string,
  subject: Subject,
  options: RunOptions,
): Promise<RequirementResult> {
  const now = options.now ?? (() => performance.now());
  const start = now();
  const gap = gapOf(requirement.id, options.knownGaps ?? {});
  const seen = await observe(requirement, subject, options.timeoutMs ?? TIMEOUT_MS);
  const { id, capability, level, source, behaviour, wire } = requirement;
  return { id, protocol, wire, capability, level, source, behaviour, ...judge(seen, gap), durationMs: Math.round(now() - start) };
}

interface Observed {
  readonly outcome: "met" | "unmet" | "skipped";
  readonly detail: Maybe<string>;
}

function judge(seen: Observed, gap: Maybe<string>): Pick<RequirementResult, "outcome" | "detail"> {
  if (gap === undefined || seen.outcome === "skipped") return seen;
  if (seen.outcome === "unmet") return { outcome: "known gap", detail: gap };
  return { outcome: "stale gap", detail: `it is met now; remove from the list: ${gap}` };
}

async function observe(requirement: Requirement, subject: Subject, timeoutMs: number): Promise<Observed> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    const result = await Promise.race([requirement.check(subject), late]);
    return result === undefined ? { outcome: "met", detail: undefined } : { outcome: "skipped", detail: result.skipped };
  } catch (thrown) {
    return { outcome: "unmet", detail: thrown instanceof Error ? thrown.message : String(thrown) };
  } finally {
    clearTimeout(timer);
  }
}

/** The reason for an id, by the exact id or the longest matching pattern. */
function gapOf(id: string, gaps: KnownGaps): Maybe<string> {
  if (Object.hasOwn(gaps, id)) return gaps[id];
  const patterns = Object.keys(gaps).filter((key) => key.endsWith("*") && id.startsWith(key.slice(0, -1)));
  const [longest] = patterns.sort((a, b) => b.length - a.length);
  return longest === undefined ? undefined : gaps[longest];
}

/** The subject with its open requests, sessions and webhooks tracked, so that all of them can be closed after a check. */
function watch(subject: Subject): Subject & { endAll(): void } {
  const open = new Set<Cancel>();
  const sessions = new Set<Session>();
  const hooks = new Set<Hook>();
  const { openSession } = subject;
  const makeHook = subject.openHook ?? (isOnLoopback(subject.url) ? openHook : undefined);
  return {
    url: subject.url.replace(/\/$/, ""),
    headers: subject.headers,
    signer: subject.signer,
    caller: subject.caller,
    newId: () => subject.newId(),
    exchange: (request) => {
      open.add(request.cancel);
      return subject.exchange(request);
    },
    openSession:
      openSession &&
      (async (url, subprotocols) => {
        const session = await openSession(url, subprotocols);
        sessions.add(session);
        return session;
      }),
    openHook:
      makeHook &&
      (async () => {
        const hook = await makeHook();
        hooks.add(hook);
        return hook;
      }),
    endAll() {
      for (const cancel of open) cancel.cancel(new AgentError("cancelled", "the check has ended"));
      open.clear();
      for (const session of sessions) session.close(GOING_AWAY, "the check has ended");
      sessions.clear();
      for (const hook of hooks) hook.close();
      hooks.clear();
    },
  };
}
