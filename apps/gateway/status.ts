import type { BridgedAgent, Card, Interface, Maybe, RemoteAgent } from "../../src/index.js";
import type { AgentSupervisor } from "./agent-supervisor.js";
import type { Health } from "./upstream-monitor.js";

/** Status of one upstream. */
export interface UpstreamStatus {
  readonly id: string;
  readonly url: string;
  readonly health: Health;
  readonly problem: Maybe<string>;
  /** `a2a@1.0/JSONRPC`; undefined until it is resolved. */
  readonly speaks: Maybe<string>;
  /** Evidence for the interface, one sentence each. */
  readonly evidence: readonly string[];
  readonly proved: boolean;
  readonly cardTrust: Maybe<RemoteAgent["cardTrust"]>;
}

/** Status of one agent of the gateway. */
export interface AgentStatus {
  readonly name: string;
  readonly card: Card;
  readonly health: Health;
  readonly problem: Maybe<string>;
  readonly mode: "adopt" | "relay";
  readonly upstreams: readonly UpstreamStatus[];
  readonly interfaces: readonly Interface[];
  /** Notes for the operator, for example a removed signature. */
  readonly notes: BridgedAgent["notes"];
}

export function statusOf(supervisor: AgentSupervisor, interfaces: readonly Interface[]): AgentStatus {
  return {
    name: supervisor.name,
    card: supervisor.agent.card,
    health: supervisor.health,
    problem: supervisor.problem?.message,
    mode: supervisor.config.mode,
    upstreams: supervisor.upstreams.map(({ id, config, health, problem, remote }) => ({
      id,
      url: config.url,
      health,
      problem: problem?.message,
      speaks: interfaceName(remote),
      evidence: remote?.evidence ?? [],
      proved: remote?.verified ?? false,
      cardTrust: remote?.cardTrust,
    })),
    interfaces,
    notes: supervisor.bridged?.notes ?? [],
  };
}

/** `a2a@1.0/JSONRPC`. */
export function interfaceName(remote: Maybe<RemoteAgent>): Maybe<string> {
  return remote === undefined ? undefined : `${remote.protocol}@${remote.version}/${remote.binding}`;
}
