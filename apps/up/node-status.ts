/** State of a node. `unspoken`: its protocol is not registered. */
export type NodeState = "starting" | "ready" | "unhealthy" | "restarting" | "gave-up" | "stopping" | "stopped" | "unspoken";

/** What a node runs: an agent module, a command, a remote URL, a demo agent or a bridge. */
export type NodeKind = "agent" | "command" | "url" | "demo" | "bridge";

/** Status of one node. */
export interface NodeStatus {
  readonly id: string;
  readonly kind: NodeKind;
  /** Protocol of the decision; for a bridge, both protocols. */
  readonly protocol: string;
  /** Interface used to call it; empty if its protocol is not registered. */
  readonly pin: string;
  readonly url: string;
  readonly state: NodeState;
  readonly pid: number | undefined;
  readonly restarts: number;
  /** Start of the current state, in milliseconds since the epoch. */
  readonly since: number;
  /** The last problem. */
  readonly problem: string | undefined;
}

/** Supervises or monitors one node. */
export interface Supervisor {
  readonly status: NodeStatus;
  start(): void;
  /** Kills the process, as in a crash. Throws AgentError if there is none. */
  kill(): void;
  /** Stops it gracefully and starts it again, even after giving up. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}
