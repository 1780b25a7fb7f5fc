import { agent, type Server, type Store, serve } from "../../src/index.js";
import type { Gateway } from "../gateway/index.js";
import { LOOPBACK_SETTINGS } from "./identities.js";
import type { DemoPlan } from "./plan.js";
import type { SealedAgents } from "./sealed-agents.js";

/** Timeout of one message. */
const TIMEOUT_MS = 60_000;
/** Short, so that a restarted agent is used again at once. */
const BREAKER_OPEN_MS = 1_000;
/** Also served at the root path, which is the only one that gRPC has. */
const DEFAULT_AGENT = "cranes";

/** Agents whose protocol is registered, the default agent first. */
export function upstreamAgents({ plan: { modules, network }, dids }: DemoPlan) {
  const agents = modules.flatMap(({ id, port, pin }) => {
    const upstreamPin = pin ?? network.nodes.find((node) => node.id === id)?.spokenBy;
    // Who has a DID is called by it, and has to prove it.
    return upstreamPin === undefined
      ? []
      : [{ name: id, upstream: dids.get(id) ?? `http://127.0.0.1:${port}`, pin: upstreamPin }];
  });
  return agents.toSorted((a, b) => Number(b.name === DEFAULT_AGENT) - Number(a.name === DEFAULT_AGENT));
}

interface DemoGatewayOptions {
  readonly port: number;
  readonly adminPort: number;
  /** The identity file that proves the gateway to agents with a DID. */
  readonly identity: string;
  readonly sealed: SealedAgents;
  readonly store: Store;
  readonly onError: ((thrown: unknown) => void) | undefined;
}

/** Opens the gateway of the demo with its page. */
export async function openDemoGateway(
  demoPlan: DemoPlan,
  { port, adminPort, identity, sealed, store, onError }: DemoGatewayOptions,
): Promise<Gateway> {
  // Loaded late: starting the agents takes longer.
  const { configFrom, openGateway } = await import("../gateway/index.js");
  const document = {
    listen: { port },
    admin: { port: adminPort },
    // Where an agent has to prove its DID, the gateway proves its own.
    agents: [
      ...upstreamAgents(demoPlan).map((each) => (demoPlan.dids.has(each.name) ? { ...each, identity } : each)),
      { ...sealed.upstream, mode: "relay" },
    ],
    identity: sealed.gatewayFile,
    settings: { ...LOOPBACK_SETTINGS, ...sealed.gatewaySettings },
    defaults: {
      timeoutMs: TIMEOUT_MS,
      policies: { retry: true, breaker: { openMs: BREAKER_OPEN_MS }, bulkhead: true },
    },
    metrics: true,
  };
  const config = configFrom(document, { folder: demoPlan.plan.folder, env: {} });
  return openGateway(config, { store, ...(onError === undefined ? {} : { onError }) });
}

/**
 * Holds the gateway's port while its upstreams start. They need each other's gateway addresses before the gateway can open, and
 * a server with the same agent names has the same addresses.
 */
export function reservePort(names: readonly string[], port: number): Promise<Server> {
  const handle = (): never => {
    throw new Error("The demo gateway is not open yet");
  };
  return serve(
    names.map((name) => agent({ name, description: "Starting", handle })),
    { port },
  );
}
