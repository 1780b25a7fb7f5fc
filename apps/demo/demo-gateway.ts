import type { Gateway } from "../gateway/index.js";
import type { Plan } from "../up/index.js";

/** For one message, with its tries. */
const TIMEOUT_MS = 60_000;
/** A breaker that stays open for longer than an agent needs to come back would only hide that it did. */
const BREAKER_OPEN_MS = 1_000;
/** Answers at the bare address too, which is the only one that gRPC has. */
const DEFAULT_AGENT = "cranes";

/** The agents that something here can speak with, the default one first. */
export function agentsBehind({ modules, network }: Plan) {
  const agents = modules.flatMap(({ id, port, pin }) => {
    const spoken = pin ?? network.nodes.find((node) => node.id === id)?.spokenBy;
    return spoken === undefined ? [] : [{ name: id, upstream: `http://127.0.0.1:${port}`, pin: spoken }];
  });
  return agents.toSorted((a, b) => Number(b.name === DEFAULT_AGENT) - Number(a.name === DEFAULT_AGENT));
}

/** One gateway in front of all of them, with its page. */
export async function openHarbourGateway(plan: Plan, port: number, onError?: (thrown: unknown) => void): Promise<Gateway> {
  // Loaded while the agents start, and not before: they are what takes time.
  const { configFrom, openGateway } = await import("../gateway/index.js");
  const document = {
    listen: { port },
    agents: agentsBehind(plan),
    defaults: {
      timeoutMs: TIMEOUT_MS,
      policies: { retry: true, breaker: { openMs: BREAKER_OPEN_MS }, bulkhead: true },
    },
    metrics: "loopback",
  };
  const config = configFrom(document, { folder: plan.folder, env: {} });
  return openGateway(config, onError === undefined ? {} : { onError });
}
