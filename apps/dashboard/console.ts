import type { Interface, Json, JsonObject, Maybe, State } from "../../src/index.js";
import type { CaptureLog } from "../../src/public/inspect.js";
import type { Decision } from "../../src/router/index.js";

/** One agent on the map. */
export interface NodeState {
  readonly id: string;
  readonly title: string;
  /** `agent`: stands behind the gateway. `gateway`: translates. `caller`: somebody who calls. `missing`: planned, cannot be had. */
  readonly kind: "agent" | "gateway" | "caller" | "missing";
  /** What it really speaks: `a2a@0.3/JSONRPC`. */
  readonly speaks: readonly string[];
  readonly url: Maybe<string>;
  readonly health: "up" | "starting" | "down" | "unknown";
  /** One sentence: why it is down, or what it is. */
  readonly note: string;
  /** Of the process behind it, where we started it. */
  readonly pid?: Maybe<number>;
  readonly restarts?: Maybe<number>;
  /** What may be done to it from the page. */
  readonly actions: readonly ("kill" | "restart")[];
}

/** One connection on the map. */
export interface LinkState {
  readonly from: string;
  readonly to: string;
  /** The protocol on each side; they differ where a bridge stands. */
  readonly fromProtocol: string;
  readonly toProtocol: string;
  readonly bridged: boolean;
  readonly features: readonly { readonly name: string; readonly on: boolean; readonly by: string }[];
  readonly messages: number;
  readonly failures: number;
  /** Of the last minutes, oldest first, in milliseconds. */
  readonly latencies: readonly number[];
}

export interface BreakerState {
  readonly destination: string;
  readonly state: "closed" | "open" | "half-open";
  readonly since: number;
  readonly because: string;
}

export interface QueueState {
  readonly name: string;
  readonly depth: number;
  readonly limit: number;
  /** Of the last minutes, oldest first. */
  readonly history: readonly number[];
}

export interface TaskLine {
  readonly id: string;
  readonly agent: string;
  readonly state: State;
  readonly at: number;
  readonly text: string;
}

/** What happens, in one line: decisions, hedges, breaker changes, deaths and restarts. */
export interface NetworkEvent {
  readonly at: number;
  readonly kind: string;
  readonly subject: string;
  readonly says: string;
  readonly traceId?: Maybe<string>;
}

/** Everything on the page but messages. */
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

/** A message from the page to one agent, by one way. */
export interface PageMessage {
  readonly node: string;
  /** `a2a@1.0/GRPC`: which of the ways in front is taken. */
  readonly way: string;
  readonly text: string;
  readonly stream: boolean;
}

/** What stands behind the page. Whoever serves it brings this. */
export interface Console {
  state(): NetworkState;
  /** Told whenever `state()` would give something new; the page asks at most a few times a second. */
  onChange(run: () => void): () => void;
  /** Aborted when what stands behind the page goes away: pages that look must not hold it up. */
  readonly ending?: AbortSignal;
  readonly sightings: CaptureLog;
  tasks(limit: number): Promise<readonly TaskLine[]>;
  taskEvents(id: string): Promise<readonly JsonObject[]>;
  /** The ways by which a node can be called from the page. */
  ways(node: string): readonly Interface[];
  /** Absent where nothing may be sent. */
  send?(message: PageMessage, signal: AbortSignal): AsyncIterable<Json>;
  act?(node: string, action: "kill" | "restart"): Promise<void>;
}
