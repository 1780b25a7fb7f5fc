import type { Interface, Json, JsonObject, Maybe, State } from "../../src/index.js";
import type { CaptureLog } from "../../src/public/inspect.js";
import type { Decision } from "../../src/router/index.js";

/** What an operator can do with a node. `flip`: change a byte of a message on its way to it. */
export const NODE_ACTIONS = ["kill", "restart", "flip"] as const;
export type NodeAction = (typeof NODE_ACTIONS)[number];

/** One node on the map. */
export interface NodeState {
  readonly id: string;
  readonly title: string;
  /** `agent`: an upstream. `gateway`: translates. `caller`: a client. `missing`: planned, but not available. */
  readonly kind: "agent" | "gateway" | "caller" | "missing";
  /** Its interfaces: `a2a@0.3/JSONRPC`. */
  readonly speaks: readonly string[];
  readonly url: Maybe<string>;
  readonly health: "up" | "starting" | "down" | "unknown";
  /** One sentence: a description, or why it is down. */
  readonly note: string;
  /** Process id, if we started the process. */
  readonly pid?: Maybe<number>;
  readonly restarts?: Maybe<number>;
  /** Actions available on the page. */
  readonly actions: readonly NodeAction[];
}

/** One connection on the map. */
export interface LinkState {
  readonly from: string;
  readonly to: string;
  /** The protocol on each side; they differ if the link is bridged. */
  readonly fromProtocol: string;
  readonly toProtocol: string;
  readonly bridged: boolean;
  readonly features: readonly { readonly name: string; readonly on: boolean; readonly by: string }[];
  readonly messages: number;
  readonly failures: number;
  /** Recent latencies, oldest first, in milliseconds. */
  readonly latencies: readonly number[];
}

/** One circuit breaker. */
export interface BreakerState {
  readonly destination: string;
  readonly state: "closed" | "open" | "half-open";
  readonly since: number;
  readonly because: string;
}

/** One queue. */
export interface QueueState {
  readonly name: string;
  readonly depth: number;
  readonly limit: number;
  /** Recent depths, oldest first. */
  readonly history: readonly number[];
}

/** One line of the task list. */
export interface TaskLine {
  readonly id: string;
  readonly agent: string;
  readonly state: State;
  readonly at: number;
  readonly text: string;
}

/** One event: a decision, a hedge, a circuit breaker change, a crash or a restart. */
export interface NetworkEvent {
  readonly at: number;
  readonly kind: string;
  readonly subject: string;
  readonly says: string;
  readonly traceId?: Maybe<string>;
}

/** Everything on the page except messages. */
export interface NetworkState {
  readonly title: string;
  readonly startedAt: number;
  readonly nodes: readonly NodeState[];
  readonly links: readonly LinkState[];
  readonly breakers: readonly BreakerState[];
  readonly queues: readonly QueueState[];
  readonly decisions: readonly Decision[];
  readonly happenings: readonly NetworkEvent[];
  readonly counters: { readonly [name: string]: number };
}

/** A message from the page to one agent over one interface. */
export interface PageMessage {
  readonly node: string;
  /** The listener interface to use: `a2a@1.0/GRPC`. */
  readonly way: string;
  readonly text: string;
  readonly stream: boolean;
}

/** The data source and actions of the dashboard, implemented by its host. */
export interface Console {
  state(): NetworkState;
  /** Calls `run` whenever `state()` changes; the page is updated at most a few times a second. */
  onChange(run: () => void): () => void;
  /** Aborted when the host shuts down, so that open pages do not delay it. */
  readonly ending?: AbortSignal;
  readonly messages: CaptureLog;
  tasks(limit: number): Promise<readonly TaskLine[]>;
  taskEvents(id: string): Promise<readonly JsonObject[]>;
  /** Interfaces by which the page can call a node. */
  interfaces(node: string): readonly Interface[];
  /** Absent if sending is not supported. */
  send?(message: PageMessage, signal: AbortSignal): AsyncIterable<Json>;
  /** Resolves with what happened, if there is more to say than that it was done. */
  act?(node: string, action: NodeAction): Promise<Maybe<string>>;
}
