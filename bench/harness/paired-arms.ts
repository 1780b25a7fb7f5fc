import type { RequestTemplate, Turns } from "./http-load.js";
import type { Worker } from "./processes.js";
import type { Measurement } from "./result.js";
import type { Arm } from "./rounds.js";
import type { Slice } from "./tally.js";

/** The cost of each arm in one slice that they shared, in the order of the arms. */
export type RunTogether = () => Promise<readonly Measurement[]>;

/**
 * Arms that are measured together: the first of a round runs all of them in one slice, in turns of a few calls, and the others take
 * their share of it. What disturbs the machine disturbs all of them alike, so that their ratio is known better than by slices of their own.
 */
export function pairedArms(names: readonly string[], run: RunTogether): readonly Arm[] {
  let left = new Map<string, Measurement>();
  const take = async (name: string): Promise<Measurement> => {
    if (!left.has(name)) {
      const costs = await run();
      left = new Map(names.map((each, index) => [each, costs[index] ?? {}]));
    }
    const cost = left.get(name) ?? {};
    left.delete(name);
    return cost;
  };
  return names.map((name) => ({ name, measure: () => take(name) }));
}

/** A server process that the load process calls. */
export interface LoadedServer {
  readonly name: string;
  readonly server: Worker;
  readonly template: RequestTemplate;
}

/** Servers that one load process calls in turns; of each the CPU time per answer. */
export function pairedServers(
  load: Worker,
  servers: readonly LoadedServer[],
  { connections, sliceMs }: Pick<Turns, "connections" | "sliceMs">,
  /** The command of the load process. */
  command = "turns",
): readonly Arm[] {
  const order: Turns = { templates: servers.map(({ template }) => template), connections, sliceMs };
  const usages = () => Promise.all(servers.map(({ server }) => server.usage()));
  return pairedArms(
    servers.map(({ name }) => name),
    async () => {
      const before = await usages();
      const slices = await load.ask<readonly Slice[]>(command, order);
      const after = await usages();
      return slices.map((slice, index) => {
        const { counted, completed, windowMs, p50Us, p95Us, p99Us, variation } = slice;
        const cpuUs = ((after[index]?.cpuUs ?? Number.NaN) - (before[index]?.cpuUs ?? Number.NaN)) / completed;
        return { perSecond: (counted / windowMs) * 1000, p50Us, p95Us, p99Us, variation, cpuUs, requests: counted };
      });
    },
  );
}
