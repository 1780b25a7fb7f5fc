import { AgentError } from "../../src/index.js";
import { limitedSignal } from "../../src/internal.js";
import type { Decision } from "../../src/router/index.js";
import type { Gateway } from "../gateway/index.js";
import { type Launched, launch, type NodeStatus, type OutputStream, type Plan } from "../up/index.js";
import { addressOf } from "./addresses.js";
import { ChainCounts } from "./chain-counts.js";
import { agentsBehind, openHarbourGateway } from "./harbour-gateway.js";
import { networkConsole } from "./network-console.js";
import { type Harbour, planHarbour } from "./plan.js";
import { freePort } from "./ports.js";
import { ProcessNews } from "./process-news.js";
import { reservePort } from "./reserve-port.js";
import { Traffic } from "./traffic.js";

export interface DemoOptions {
  /** Of the gateway and its page; the agents get those after it. The next free one is taken where it is not. Zero: any. */
  readonly port: number;
  /** Stops the start; a demo that has started is stopped by `stop`. */
  readonly signal?: AbortSignal;
  /** Hears what the router decided, before anything starts. */
  readonly onPlanned?: (harbour: Harbour) => void;
  readonly onStatus?: (status: NodeStatus) => void;
  /** Hears every line that an agent writes. */
  readonly onOutput?: (id: string, stream: OutputStream, line: string) => void;
  /** Hears what went wrong inside. */
  readonly onError?: (thrown: unknown) => void;
}

/** The harbour, running: agents in processes of their own, one gateway in front of them, and visitors. */
export interface Demo {
  readonly decisions: readonly Decision[];
  readonly plan: Plan;
  readonly gateway: Gateway;
  readonly network: Launched;
  readonly traffic: Traffic;
  /** The ids of the agents that answer now. */
  present(): readonly string[];
  /** Told whenever something changed. The returned function ends that. */
  onChange(run: () => void): () => void;
  /** Ends everything; resolves when nothing is left running. */
  stop(): Promise<void>;
}

/** From the start until all agents answer. */
const READY_MS = 30_000;
/** A demo that is told to stop does not wait for long jobs. */
const DRAIN_MS = 2_000;

/** Routes the scenario, starts what the decisions ask for, and opens the gateway as soon as every agent answers. */
export async function openDemo(options: DemoOptions): Promise<Demo> {
  const given = new Set<number>();
  const port = await freePort(options.port, given);
  const harbour = await planHarbour(options.port === 0 ? 0 : port + 1, given);
  options.onPlanned?.(harbour);
  const network = await launchBehind(port, harbour.plan, options);
  try {
    return demoOf(harbour, network, await openHarbourGateway(harbour.plan, port, options.onError));
  } catch (thrown) {
    await network.stop();
    throw thrown;
  }
}

/** Starts the processes, with the gateway's addresses for those who reach each other by a bridge, and waits until all answer. */
async function launchBehind(port: number, plan: Plan, { onOutput, onStatus, signal }: DemoOptions): Promise<Launched> {
  const names = agentsBehind(plan).map(({ name }) => name);
  const doorkeeper = await reservePort(names, port);
  try {
    const network = await launch(plan, {
      limits: { drainMs: DRAIN_MS },
      hostBridge: async ({ dst, pin }) => addressOf(doorkeeper, dst, pin),
      ...(onOutput === undefined ? {} : { onOutput }),
    });
    if (onStatus !== undefined) network.onChange(onStatus);
    await settled(network, signal).catch(async (thrown: unknown) => {
      await network.stop();
      throw thrown;
    });
    return network;
  } finally {
    await doorkeeper.close();
  }
}

/** Rejects where an agent does not answer in time, or when somebody does not want to wait any longer. */
async function settled(network: Launched, stop: AbortSignal = new AbortController().signal): Promise<void> {
  const { signal, stop: letGo } = limitedSignal(stop, READY_MS);
  const ended = new Promise<never>((_resolve, reject) => {
    const end = (): void => reject(stop.aborted ? AgentError.from(stop.reason) : lateError(network));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
  await Promise.race([network.settled(), ended]).finally(letGo);
  if (network.nodes().some(({ state }) => state === "gave-up")) throw lateError(network);
}

function lateError(network: Launched): AgentError {
  const missing = network.nodes().filter(({ state }) => state !== "ready" && state !== "unspoken");
  const words = missing.map(({ id, state, problem }) => `${id} (${problem ?? state})`).join(", ");
  return new AgentError("unavailable", `not every agent of the demo could be started: ${words}`);
}

function demoOf(harbour: Harbour, network: Launched, gateway: Gateway): Demo {
  const present: Demo["present"] = () => {
    const up = new Set(gateway.agents().flatMap(({ name, health }) => (health === "up" ? [name] : [])));
    return network.nodes().flatMap(({ id, state }) => (state === "ready" && up.has(id) ? [id] : []));
  };
  const traffic = new Traffic(gateway, present);
  const { console } = gateway;
  const chains = new ChainCounts(console.sightings, harbour.plan.network.links);
  const news = new ProcessNews(network, Date.now);
  // The page looks at this very object, so that what is added to it is on the page.
  Object.assign(console, networkConsole({ ...console }, { harbour, network, traffic, chains, news }));
  return {
    ...harbour,
    gateway,
    network,
    traffic,
    present,
    onChange: (run) => console.onChange(run),
    async stop() {
      chains.close();
      news.close();
      await traffic.stop();
      // The gateway lets go of the agents first, so that none of them waits for a caller that is gone.
      await gateway.close();
      await network.stop();
    },
  };
}
