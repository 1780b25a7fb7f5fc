import type { OpenEdges } from "../processes/wire.js";
import type { Settings } from "../result/index.js";
import { CALLER, edgeBetween, edgeTo } from "../result/witness.js";

/** A directed edge: who calls whom. Each has a proxy of its own. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly name: string;
}

/** From the caller to every agent, and between agents where they call each other. */
export function edgesOf(agents: readonly string[], topology: Settings["topology"]): readonly Edge[] {
  const callers = topology === "mesh" ? [CALLER, ...agents] : [CALLER];
  return callers.flatMap((from) => agents.filter((to) => to !== from).map((to) => ({ from, to, name: edgeBetween(from, to) })));
}

/** Where the proxies of the edges listen. */
export class ProxyAddresses {
  readonly #edges: readonly Edge[];
  readonly #ports: Readonly<Record<string, number>>;

  constructor(edges: readonly Edge[], ports: Readonly<Record<string, number>>) {
    this.#edges = edges;
    this.#ports = ports;
  }

  /** Where the caller reaches an agent. */
  urlOf(agent: string): string {
    return `http://${this.#hostOf(edgeTo(agent))}`;
  }

  /** The names that an agent is called by, and where it reaches the others. */
  peersOf(agent: string) {
    const of = (side: "from" | "to") => this.#edges.filter((edge) => edge[side] === agent);
    return {
      names: of("to").map(({ name }) => this.#hostOf(name)),
      peers: of("from").map(({ name, to }) => ({ agent: to, url: `http://${this.#hostOf(name)}` })),
    };
  }

  #hostOf(edge: string): string {
    return `127.0.0.1:${this.#ports[edge]}`;
  }
}

/** Where the proxies of edges listen, and the hosts that they lead to. Without a base port each takes a free one. */
export function openEdges(
  edges: readonly Edge[],
  { seed, basePort, addressOf }: { seed: number; basePort: number | undefined; addressOf(agent: string): string | undefined },
): OpenEdges {
  return {
    seed,
    edges: edges.map(({ name, to }, index) => ({
      edge: name,
      port: basePort === undefined ? 0 : basePort + index,
      host: addressOf(to),
    })),
  };
}
