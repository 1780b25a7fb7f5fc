/** The process in the path of every edge of a run. It also ends stopped processes if the driver is gone: they cannot do it themselves. */
import { answerCommands } from "../../harness/worker.js";
import { type EdgeConditions, type EdgeCounts, EdgeProxy } from "../wire/edge-proxy.js";

export interface OpenEdges {
  readonly edges: readonly {
    readonly edge: string;
    readonly port: number;
    /** The address of the agent. Undefined: loopback. */
    readonly host?: string | undefined;
  }[];
  readonly seed: number;
}

const proxies = new Map<string, EdgeProxy>();
let guarded: readonly number[] = [];

function proxyOf(edge: string): EdgeProxy {
  const proxy = proxies.get(edge);
  if (proxy === undefined) throw new Error(`there is no edge ${edge}`);
  return proxy;
}

process.on("disconnect", () => {
  for (const pid of guarded)
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended.
    }
});

answerCommands({
  /** Returns the port of each edge. */
  async open({ edges, seed }: OpenEdges): Promise<Readonly<Record<string, number>>> {
    const opened = edges.map(async ({ edge, port, host }, index) => {
      const proxy = new EdgeProxy(seed + index, host);
      proxies.set(edge, proxy);
      return [edge, await proxy.listen(port)] as const;
    });
    return Object.fromEntries(await Promise.all(opened));
  },
  target: ({ edge, port }: { readonly edge: string; readonly port: number }) => {
    proxyOf(edge).target = port;
  },
  conditions: ({ edge, conditions }: { readonly edge: string; readonly conditions: EdgeConditions }) => {
    proxyOf(edge).conditions = conditions;
  },
  /** Whether the agent at the end of an edge refuses connections. */
  refuses: (edge: string): Promise<boolean> => proxyOf(edge).isRefused(),
  counts: (): Readonly<Record<string, EdgeCounts>> =>
    Object.fromEntries([...proxies].map(([edge, proxy]) => [edge, proxy.counts])),
  guard: (pids: readonly number[]) => {
    guarded = pids;
  },
});
