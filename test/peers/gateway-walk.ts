import { setTimeout as delay } from "node:timers/promises";
import { EMULATED_KEY } from "../../src/internal.js";

/** The checks of every client with every agent, as far as its protocol has the operation. */
export const CHECKS = ["ask", "task", "stream", "input", "cancel", "error", "unknown"] as const;
export type Check = (typeof CHECKS)[number];

/** The result of each check, in one line; absent if the protocol has no such operation. */
export type Seen = { readonly [check in Check]?: string };

/** One client of an official library, over one of its interfaces. */
export interface OfficialClient {
  readonly name: string;
  /** Runs all checks at each address and returns the results by name. */
  walk(agents: Addresses): Promise<{ readonly [agent: string]: Seen }>;
}

type Addresses = { readonly [agent: string]: string };

/** How long one check may take. */
const CHECK_MS = 15_000;
const LOOK_MS = 10;

export type Checks = { readonly [check in Check]?: () => Promise<string> };

/** A failed check is reported in its line; the others still run. */
export async function walkAll(
  agents: Addresses,
  open: (url: string) => Promise<Checks>,
): Promise<{ readonly [agent: string]: Seen }> {
  const seen: Record<string, Seen> = {};
  for (const [agent, url] of Object.entries(agents)) seen[agent] = await walk(await open(url));
  return seen;
}

async function walk(checks: Checks): Promise<Seen> {
  const seen: { [check in Check]?: string } = {};
  for (const check of CHECKS) {
    const run = checks[check];
    if (run !== undefined) seen[check] = await within(run).catch(raised);
  }
  return seen;
}

async function within(run: () => Promise<string>): Promise<string> {
  const timer = new AbortController();
  const late = delay(CHECK_MS, "raised nothing for too long", { signal: timer.signal });
  try {
    return await Promise.race([run(), late]);
  } finally {
    timer.abort();
    await late.catch(() => undefined);
  }
}

function raised(thrown: unknown): string {
  return `raised ${nameOf(thrown)}: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
}

/** The class of the error; the libraries wrap an error inside a stream. */
function nameOf(thrown: unknown): string {
  const error = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  return error instanceof Error ? error.constructor.name : "no error";
}

/** The result of a call, or the class of its error without the transport's prefix. */
export function orRefusal(call: Promise<string>): Promise<string> {
  return call.catch(
    (thrown: unknown) =>
      `refused: ${nameOf(thrown)
        .replace(/^(JsonRpc|Rest|Grpc)/, "")
        .replace("JSONRPCError", "Error")}`,
  );
}

/** What the gateway emulated, as reported in the metadata. */
export function emulatedIn(metadata: { readonly [name: string]: unknown } | undefined): string {
  const emulated = metadata?.[EMULATED_KEY];
  return Array.isArray(emulated) ? `(emulated: ${emulated.join(", ")})` : "";
}

/** Polls until the result is final; `walk` limits how long. */
export async function until<T>(look: () => Promise<T>, enough: (seen: T) => boolean): Promise<T> {
  for (let seen = await look(); ; seen = await look()) {
    if (enough(seen)) return seen;
    await delay(LOOK_MS);
  }
}
