import { AgentError, createMemoryStore } from "../../src/index.js";
import { limitedSignal } from "../../src/internal.js";
import type { Decision } from "../../src/router/index.js";
import type { Gateway } from "../gateway/index.js";
import { type LaunchedNetwork, launch, type NodeStatus, type OutputStream, type Plan } from "../up/index.js";
import { addressOf } from "./addresses.js";
import { ChainCounts } from "./chain-counts.js";
import { openDemoGateway, reservePort, upstreamAgents } from "./demo-gateway.js";
import { DemoIdentities } from "./identities.js";
import { networkConsole } from "./network-console.js";
import { type DemoPlan, planDemo } from "./plan.js";
import { freePort } from "./ports.js";
import { ProcessEvents } from "./process-events.js";
import { INSURER, SealedAgents, VAULT } from "./sealed-agents.js";
import { Traffic } from "./traffic.js";

/** Options of `openDemo`. */
export interface DemoOptions {
  /** Port of the gateway; its page and the agents get the following ones. Ports in use are skipped. 0: any. */
  readonly port: number;
  /** Aborts the start; use `stop` afterwards. */
  readonly signal?: AbortSignal;
  /** Called with the decisions before anything starts. */
  readonly onPlanned?: (demoPlan: DemoPlan) => void;
  readonly onStatus?: (status: NodeStatus) => void;
  /** Called with every output line of an agent. */
  readonly onOutput?: (id: string, stream: OutputStream, line: string) => void;
  /** Called with internal errors. */
  readonly onError?: (thrown: unknown) => void;
}

/** The running demo: agent processes, one gateway, and simulated traffic. */
export interface Demo {
  readonly decisions: readonly Decision[];
  readonly plan: Plan;
  readonly dids: DemoPlan["dids"];
  readonly gateway: Gateway;
  readonly network: LaunchedNetwork;
  readonly traffic: Traffic;
  readonly sealed: SealedAgents;
  /** Ids of the healthy agents. */
  present(): readonly string[];
  /** Subscribes to changes. Returns the function that unsubscribes. */
  onChange(run: () => void): () => void;
  /** Stops everything; resolves when no process is left. */
  stop(): Promise<void>;
}

/** Time limit until all agents are ready. */
const READY_MS = 30_000;
/** Shutdown does not wait for long jobs. */
const DRAIN_MS = 2_000;

/** Routes the scenario, starts the agents, and opens the gateway once all are ready. */
export async function openDemo(options: DemoOptions): Promise<Demo> {
  const given = new Set<number>();
  const port = await freePort(options.port, given);
  const next = options.port === 0 ? 0 : port + 1;
  const adminPort = await freePort(next, given);
  const identities = await DemoIdentities.open();
  const closers: (() => Promise<unknown>)[] = [() => identities.close()];
  const closing = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const demoPlan = await planDemo(next, given, identities);
    options.onPlanned?.(demoPlan);
    const { file } = await identities.createPublished("gateway", await freePort(next, given));
    const store = createMemoryStore({ now: Date.now });
    const nextPort = (): Promise<number> => freePort(next, given);
    // While the agents start, which takes longer.
    const sealing = SealedAgents.open({ folder: identities.folder, store, gatewayPort: port, nextPort });
    sealing.then((made) => closers.push(() => made.close())).catch(() => undefined); // awaited below
    const network = await launchAgents(port, demoPlan, options);
    closers.push(() => network.stop());
    const sealed = await sealing;
    const gateway = await openDemoGateway(demoPlan, {
      ...{ port, adminPort, identity: file, sealed, store },
      onError: options.onError,
    });
    return demoOf(demoPlan, { network, gateway, sealed, closing });
  } catch (thrown) {
    await closing();
    throw thrown;
  }
}

/** Starts the agents, with the gateway as bridge between them, and waits until all are ready. */
async function launchAgents(
  port: number,
  demoPlan: DemoPlan,
  { onOutput, onStatus, signal }: DemoOptions,
): Promise<LaunchedNetwork> {
  const names = upstreamAgents(demoPlan).map(({ name }) => name);
  const reservation = await reservePort(names, port);
  try {
    const network = await launch(demoPlan.plan, {
      limits: { drainMs: DRAIN_MS },
      hostBridge: async ({ dst, pin }) => addressOf(reservation, dst, pin),
      ...(onOutput === undefined ? {} : { onOutput }),
    });
    if (onStatus !== undefined) network.onChange(onStatus);
    await settled(network, signal).catch(async (thrown: unknown) => {
      await network.stop();
      throw thrown;
    });
    return network;
  } finally {
    await reservation.close();
  }
}

/** Rejects on timeout, on abort, or if an agent was given up. */
async function settled(network: LaunchedNetwork, stop: AbortSignal = new AbortController().signal): Promise<void> {
  const { signal, stop: release } = limitedSignal(stop, READY_MS);
  const ended = new Promise<never>((_resolve, reject) => {
    const end = (): void => reject(stop.aborted ? AgentError.from(stop.reason) : startError(network));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
  await Promise.race([network.settled(), ended]).finally(release);
  if (network.nodes().some(({ state }) => state === "gave-up")) throw startError(network);
}

function startError(network: LaunchedNetwork): AgentError {
  const missing = network.nodes().filter(({ state }) => state !== "ready" && state !== "unspoken");
  const details = missing.map(({ id, state, problem }) => `${id} (${problem ?? state})`).join(", ");
  return new AgentError("unavailable", `Not all demo agents could be started: ${details}`);
}

interface Opened {
  readonly network: LaunchedNetwork;
  readonly gateway: Gateway;
  readonly sealed: SealedAgents;
  /** Stops the agents and deletes the identities. */
  closing(): Promise<void>;
}

function demoOf(demoPlan: DemoPlan, { network, gateway, sealed, closing }: Opened): Demo {
  const present: Demo["present"] = () => {
    const up = gateway.agents().flatMap(({ name, health }) => (health === "up" ? [name] : []));
    const ready = new Set(network.nodes().flatMap(({ id, state }) => (state === "ready" ? [id] : [])));
    return up.filter((name) => name === VAULT || ready.has(name));
  };
  const traffic = new Traffic(gateway, present, { [INSURER]: sealed.connectOptions });
  const { console } = gateway;
  const chains = new ChainCounts(console.messages, demoPlan.plan.network.links);
  const processEvents = new ProcessEvents(network, Date.now);
  // The page reads this object, so it is extended in place.
  Object.assign(console, networkConsole({ ...console }, { demoPlan, network, traffic, chains, processEvents, sealed }));
  return {
    ...demoPlan,
    gateway,
    network,
    traffic,
    sealed,
    present,
    onChange: (run) => console.onChange(run),
    async stop() {
      chains.close();
      processEvents.close();
      await traffic.stop();
      // The gateway disconnects first, so that no agent waits for a caller.
      await gateway.close();
      await closing();
    },
  };
}
