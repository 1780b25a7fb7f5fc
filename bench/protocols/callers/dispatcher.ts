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
 * One queue for all agents, from which each takes its next request when it has answered the last one. The agent that has been idle longest
 * is first, so that with fewer requests in flight than agents all of them work.
 */
export function sharedQueue(agents: readonly string[]): Dispatcher {
  const idle = [...agents];
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
