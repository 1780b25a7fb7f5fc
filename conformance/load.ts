import { AgentError, type RemoteAgent } from "../src/index.js";

/** The fixed load of G.6: so many messages, so many at a time, after a few that are not counted. */
export const LOAD = { warmUp: 20, messages: 500, concurrency: 8 } as const;

export interface LoadReport {
  readonly protocol: string;
  readonly messages: number;
  readonly concurrency: number;
  readonly failed: number;
  /** The codes of failures, with how often each occurred. */
  readonly errors: { readonly [code: string]: number };
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** Standard deviation over mean. */
  readonly jitter: number;
}

/** Sends short messages and measures how long their answers take. Failures are counted, and not among the times. */
export async function runLoad(
  peer: Pick<RemoteAgent, "ask" | "protocol" | "version" | "binding">,
  text: string,
  now: () => number,
): Promise<LoadReport> {
  for (let sent = 0; sent < LOAD.warmUp; sent++) await peer.ask(text).catch(() => undefined);
  const times: number[] = [];
  const errors: Record<string, number> = {};
  let left: number = LOAD.messages;
  async function send(): Promise<void> {
    while (left-- > 0) {
      const began = now();
      try {
        await peer.ask(text);
        times.push(now() - began);
      } catch (thrown) {
        const { code } = AgentError.from(thrown);
        errors[code] = (errors[code] ?? 0) + 1;
      }
    }
  }
  await Promise.all(Array.from({ length: LOAD.concurrency }, send));
  times.sort((a, b) => a - b);
  return {
    protocol: `${peer.protocol}@${peer.version}/${peer.binding}`,
    messages: LOAD.messages,
    concurrency: LOAD.concurrency,
    failed: LOAD.messages - times.length,
    errors,
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    p99Ms: percentile(times, 0.99),
    jitter: jitterOf(times),
  };
}

/** Nearest rank of an ascending list; zero of none. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

function jitterOf(times: readonly number[]): number {
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  const variance = times.reduce((sum, time) => sum + (time - mean) ** 2, 0) / times.length;
  return mean > 0 ? Math.sqrt(variance) / mean : 0;
}
