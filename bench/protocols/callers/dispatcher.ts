import type { CallerTask } from "../processes/tasks.js";
import type { Dispatch } from "../result/plan.js";
import type { Requests } from "./requests.js";

/** Decides which agent gets a request. */
export interface Dispatcher {
  /** Resolves when an agent may be sent this request. */
  take(seq: number): Promise<string>;
  /** The request that this agent got has ended. */
  release(agent: string): void;
}

/** Agents in turn, whether they are busy or not. */
export function inTurn(agents: readonly string[]): Dispatcher {
  return { take: async (seq) => agents[seq % agents.length] ?? "", release: () => undefined };
}

/** Each request goes to the agent that it is for, busy or not. */
export function asNamed(agentOf: (seq: number) => string): Dispatcher {
  return { take: async (seq) => agentOf(seq), release: () => undefined };
}

/**
 * One queue for all agents, from which each takes its next request when it has answered the last one, or one of several that it has at a
 * time. The agent that has been idle longest is first, so that with fewer requests in flight than agents all of them work.
 */
export function sharedQueue(agents: readonly string[], perAgent = 1): Dispatcher {
  const idle = Array.from({ length: perAgent }, () => agents).flat();
  const waiting: ((agent: string) => void)[] = [];
  return {
    take: () =>
      new Promise((resolve) => {
        const agent = idle.shift();
        if (agent === undefined) waiting.push(resolve);
        else resolve(agent);
      }),
    release(agent) {
      const next = waiting.shift();
      if (next === undefined) idle.push(agent);
      else next(agent);
    },
  };
}

/**
 * A queue for each agent: an entry waits for the agent of its number, whoever is free. The topology is then the same in every arm, and not what
 * the speed of an arm makes of it.
 */
export function ownQueues(agents: readonly string[], perAgent = 1): Dispatcher {
  const queues = new Map(agents.map((agent) => [agent, sharedQueue([agent], perAgent)]));
  const queueOf = (agent: string): Dispatcher => {
    const found = queues.get(agent);
    if (found === undefined) throw new Error(`there is no agent ${agent}`);
    return found;
  };
  return {
    take: (seq) => queueOf(agents[seq % agents.length] ?? "").take(seq),
    release: (agent) => queueOf(agent).release(agent),
  };
}

interface Dispatching extends Requests {
  readonly perWorker: number | undefined;
}

/** Each decides by itself which agent gets a request. */
const DISPATCHERS: Readonly<Record<Dispatch, (agents: readonly string[], requests: Dispatching) => Dispatcher>> = {
  turns: inTurn,
  queue: (agents, { perWorker }) => sharedQueue(agents, perWorker),
  named: (_, { agentOf }) => asNamed(agentOf),
  ring: inTurn,
};

/** The dispatcher that the settings of a run ask for. */
export function dispatcherOf({ settings, targets }: CallerTask, requests: Requests): Dispatcher {
  const { dispatch = "turns", freeze, perWorker } = settings;
  const agents = targets.map(({ agent }) => agent);
  return dispatch === "queue" && freeze.includes("topology")
    ? ownQueues(agents, perWorker)
    : DISPATCHERS[dispatch](agents, { ...requests, perWorker });
}
