import type { Maybe } from "../../../src/index.js";
import { readRetryAfter } from "../../../src/internal.js";

/** What became of a batch. */
export type Sent =
  | { readonly kind: "accepted"; readonly rejectedSpans: number }
  /** `reason` is short and names neither headers nor the path. */
  | { readonly kind: "failed"; readonly reason: string };

export interface SenderOptions {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** Of one request. */
  readonly timeoutMs: number;
  readonly random: () => number;
}

/** OTLP/HTTP §Failures: these may be repeated, everything else may not. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 5_000;
const MAX_ATTEMPTS = 5;
/** The answer is a small message; the rest of a larger one is not read. */
const ANSWER_BYTES = 64 * 1024;

type Attempt = Sent | { readonly kind: "later"; readonly reason: string; readonly afterMs: Maybe<number> };

/** Sends one batch, and again after a failure that may pass, until the signal ends it. Never throws. */
export async function sendBatch(body: string, options: SenderOptions, signal: AbortSignal): Promise<Sent> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptOnce(body, options, signal);
    if (outcome.kind !== "later") return outcome;
    const { reason, afterMs } = outcome;
    if (attempt >= MAX_ATTEMPTS || signal.aborted) return { kind: "failed", reason };
    const backoffMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1)) * (0.8 + 0.4 * options.random());
    if (!(await pause(Math.max(backoffMs, afterMs ?? 0), signal))) return { kind: "failed", reason };
  }
}

async function attemptOnce(body: string, { url, headers, timeoutMs }: SenderOptions, signal: AbortSignal): Promise<Attempt> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
      // The headers may hold a secret that is meant for this address only.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const answer = await readStart(response);
    if (response.ok) return { kind: "accepted", rejectedSpans: rejectedIn(answer) };
    const reason = `status ${response.status}`;
    return RETRYABLE.has(response.status)
      ? { kind: "later", reason, afterMs: readRetryAfter(Object.fromEntries(response.headers)) }
      : { kind: "failed", reason };
  } catch (thrown) {
    return { kind: "later", reason: reasonOf(thrown), afterMs: undefined };
  }
}

async function readStart({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // The types of Node's streams and of fetch differ; at run time it is iterable.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** `ExportTracePartialSuccess`: the request was accepted, some of its spans were not. */
function rejectedIn(answer: string): number {
  try {
    const parsed = JSON.parse(answer) as { readonly partialSuccess?: { readonly rejectedSpans?: unknown } }; // checked below
    const count = Number(parsed.partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    return 0;
  }
}

/** Only the code: messages may quote the URL. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "no connection";
  if (thrown.name === "TimeoutError" || thrown.name === "AbortError") return "no answer in time";
  const { code } = (thrown.cause ?? {}) as { readonly code?: unknown }; // system errors have one
  return typeof code === "string" ? code : "no connection";
}

/** False if the signal ended it, or would before it is over. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve(!signal.aborted);
    };
    // Waiting for a collector does not keep a process alive.
    const timer = setTimeout(done, ms).unref();
    signal.addEventListener("abort", done);
  });
}
