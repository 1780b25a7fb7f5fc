/** What a node of a running network is doing. `unspoken`: it belongs to a protocol that nothing here speaks. */
export type NodeState = "starting" | "ready" | "unhealthy" | "restarting" | "gave-up" | "stopping" | "stopped" | "unspoken";

export type NodeKind = "agent" | "command" | "url" | "demo" | "bridge";

export interface NodeStatus {
  readonly id: string;
  readonly kind: NodeKind;
  /** As the decision says it; of a bridge, both sides. */
  readonly protocol: string;
  /** By which it is called. Empty where nothing speaks it. */
  readonly pin: string;
  readonly url: string;
  readonly state: NodeState;
  readonly pid: number | undefined;
  readonly restarts: number;
  /** Milliseconds since the epoch, when it came into this state. */
  readonly since: number;
  /** What went wrong last. */
  readonly problem: string | undefined;
}

/** One node, kept running or only watched. */
export interface Supervisor {
  readonly status: NodeStatus;
  start(): void;
  /** Ends the process at once, as a crash would. Throws AgentError where there is none. */
  kill(): void;
  /** Ends it gently and starts it anew; also one that was given up. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}
