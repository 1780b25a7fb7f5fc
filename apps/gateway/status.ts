import type { BridgedAgent, Card, Interface, Maybe, RemoteAgent } from "../../src/index.js";
import type { AgentSupervisor } from "./agent-supervisor.js";
import type { Health } from "./upstream-monitor.js";

export interface UpstreamStatus {
  readonly id: string;
  readonly url: string;
  readonly health: Health;
  readonly problem: Maybe<string>;
  /** `a2a@1.0/JSONRPC`; undefined until it was reached. */
  readonly speaks: Maybe<string>;
  /** How we know, one sentence each. */
  readonly evidence: readonly string[];
  readonly proved: boolean;
  readonly cardTrust: Maybe<RemoteAgent["cardTrust"]>;
}

/** How an agent of the gateway is. */
export interface AgentStatus {
  readonly name: string;
  readonly card: Card;
  readonly health: Health;
  readonly problem: Maybe<string>;
  readonly mode: "adopt" | "relay";
  readonly upstreams: readonly UpstreamStatus[];
  readonly interfaces: readonly Interface[];
  /** What an operator should know: a signature that was taken off, for example. */
  readonly notes: BridgedAgent["notes"];
}

export function statusOf(keeper: AgentSupervisor, interfaces: readonly Interface[]): AgentStatus {
  return {
    name: keeper.name,
    card: keeper.agent.card,
    health: keeper.health,
    problem: keeper.problem?.message,
    mode: keeper.config.mode,
    upstreams: keeper.upstreams.map(({ id, config, health, problem, remote }) => ({
      id,
      url: config.url,
      health,
      problem: problem?.message,
      speaks: spokenBy(remote),
      evidence: remote?.evidence ?? [],
      proved: remote?.verified ?? false,
      cardTrust: remote?.cardTrust,
    })),
    interfaces,
    notes: keeper.bridged?.notes ?? [],
  };
}

/** `a2a@1.0/JSONRPC`. */
export function spokenBy(remote: Maybe<RemoteAgent>): Maybe<string> {
  return remote === undefined ? undefined : `${remote.protocol}@${remote.version}/${remote.binding}`;
}
