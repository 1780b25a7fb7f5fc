import {
  AgentError,
  type Content,
  type EventOf,
  type Handler,
  type JsonObject,
  type Layer,
  type Requirement,
  startCall,
  systemIds,
} from "../envelope/index.js";
import type { Identity } from "../security/index.js";
import { type AgentFunction, createMemoryStore, createRuntime, DEFAULT_TASK_LIMITS } from "../tasks/index.js";
import { noTelemetry, type Telemetry } from "../telemetry/index.js";
import { connect, type RemoteAgent } from "./connect.js";
import type { Credentials } from "./credentials.js";
import type { LargeParts } from "./large-parts.js";
import { type AgentClient, agentClient, type SendOptions } from "./remote-agent.js";
import type { ConnectOptions } from "./resolve-peer.js";

/** The address of a peer, with its protocol and credentials. */
export interface PeerAddress {
  /** The base URL of the peer, or the URL of its card. */
  readonly url: string;
  /** `a2a`, `a2a@0.3`: pins the protocol. */
  readonly protocol?: string;
  /** Credentials for this peer only. */
  readonly credentials?: Credentials;
  /** The time limit of one call. Default: that of the agent's `edge` options. */
  readonly timeoutMs?: number;
  /** Policies around the calls to this peer, outside those of the agent's `edge` options. Default: none. */
  readonly layers?: readonly Layer[];
  /** The security that every call to this peer must have. Default: none. */
  readonly require?: readonly Requirement[];
  /** Who calls: the identity that signs requests and proves itself in sessions. Default: none. */
  readonly identity?: Identity;
  /** Protocol settings, by protocol id. Default: none. */
  readonly settings?: { readonly [protocol: string]: JsonObject };
}

/** How an agent calls its peers, unless their addresses say otherwise. */
export interface EdgeOptions {
  /** The time limit of one call, streams included. Default: only the limits of the transport. */
  readonly timeoutMs?: number;
  /** Policies around every call, outermost first. Default: none. */
  readonly layers?: readonly Layer[];
  /** Receives metrics, traces and hooks of the calls. Default: none. */
  readonly telemetry?: Telemetry;
}

/** The peers of an agent by name, each with its own connection, credentials and metrics. */
export interface AddressBook {
  /** Sends a message and returns the complete answer. */
  send(id: string, content: Content, options?: SendOptions): Promise<EventOf<"send">>;
  /** Sends a message and returns the text of the answer. */
  ask(id: string, content: Content, options?: SendOptions): Promise<string>;
  /** Sends a message and yields the events of the answer. */
  stream(id: string, content: Content, options?: SendOptions): AsyncIterable<EventOf<"send">>;
  /** The client of a peer, connected on first use. */
  peer(id: string): Promise<AgentClient>;
  /** Adds a peer, or replaces the one of this name. */
  addPeer(id: string, address: string | PeerAddress): void;
  /** Removes a peer and closes its connection. */
  removePeer(id: string): Promise<void>;
  /** Uses the served handler instead of the private one for messages to itself. */
  bindSelf(handler: Handler, large?: LargeParts): void;
  /** Closes all connections. */
  closePeers(): Promise<void>;
}

export interface AddressBookOptions {
  /** The name of the agent. Messages to this name stay in memory. */
  readonly name: string;
  readonly handle: AgentFunction;
  readonly peers?: { readonly [id: string]: string | PeerAddress };
  readonly edges?: EdgeOptions;
}

export function createAddressBook(options: AddressBookOptions): AddressBook {
  const { name, edges = {} } = options;
  const telemetry = edges.telemetry ?? noTelemetry;
  const addresses = new Map(Object.entries(options.peers ?? {}).map(([id, address]) => [id, asAddress(address)]));
  const open = new Map<string, Promise<RemoteAgent>>();
  let self: AgentClient | undefined;
  let largeParts: LargeParts | undefined;

  /** Messages to itself stay in memory, use the runtime that serves other callers, and are metered like any other. */
  function selfClient(handler: Handler): AgentClient {
    const layer = telemetry.client({ srcAgent: name, dstId: name, protocol: "memory" });
    const named: Handler = (operation, call) =>
      handler(
        operation,
        call.agent === name ? call : startCall({ agent: name, cancel: call.cancel, parameters: call.parameters }),
      );
    return agentClient({ handler: layer === undefined ? named : layer(named), src: name, dst: () => name, ids: systemIds });
  }

  function privateRuntime(): Handler {
    const store = createMemoryStore({ limits: DEFAULT_TASK_LIMITS, now: systemIds.now });
    return createRuntime({
      agents: new Map([[name, { handle: options.handle }]]),
      store,
      ids: systemIds,
      limits: DEFAULT_TASK_LIMITS,
    }).handler;
  }

  /** Content too large for a message goes by reference, once the agent is served and has an artifact store. */
  async function externalized(id: string, content: Content): Promise<Content> {
    return largeParts === undefined || id === name ? content : largeParts.move(content, `edge:${name}:${id}`);
  }

  function connected(id: string): Promise<AgentClient> {
    if (id === name) {
      self ??= selfClient(privateRuntime());
      return Promise.resolve(self);
    }
    const existing = open.get(id);
    if (existing !== undefined) return existing;
    const address = addresses.get(id);
    if (address === undefined) return Promise.reject(unknownPeer(id, addresses));
    const connecting = connect(address.url, edgeOptions(name, id, address, edges));
    open.set(id, connecting);
    // A failed connection is dropped, so that the next message connects again.
    connecting.catch(() => open.delete(id));
    return connecting;
  }

  return {
    send: async (id, content, sendOptions) => (await connected(id)).send(await externalized(id, content), sendOptions),
    ask: async (id, content, sendOptions) => (await connected(id)).ask(await externalized(id, content), sendOptions),
    async *stream(id, content, sendOptions) {
      yield* (await connected(id)).stream(await externalized(id, content), sendOptions);
    },
    peer: connected,
    addPeer(id, address) {
      if (id === name) throw new AgentError("conflict", `${id} is the name of this agent`);
      addresses.set(id, asAddress(address));
    },
    async removePeer(id) {
      addresses.delete(id);
      const edge = open.get(id);
      open.delete(id);
      await (await edge)?.close();
    },
    bindSelf(handler, large) {
      self = selfClient(handler);
      largeParts = large;
    },
    async closePeers() {
      const edges = [...open.values()];
      open.clear();
      await Promise.allSettled(edges.map(async (edge) => (await edge).close()));
    },
  };
}

function edgeOptions(name: string, id: string, address: PeerAddress, edges: EdgeOptions): ConnectOptions {
  const timeoutMs = address.timeoutMs ?? edges.timeoutMs;
  return {
    as: name,
    id,
    ...(address.protocol === undefined ? {} : { pin: address.protocol }),
    ...(address.credentials === undefined ? {} : { credentials: address.credentials }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    layers: [...(address.layers ?? []), ...(edges.layers ?? [])],
    ...(address.require === undefined ? {} : { require: address.require }),
    ...(address.identity === undefined ? {} : { identity: address.identity }),
    ...(address.settings === undefined ? {} : { settings: address.settings }),
    ...(edges.telemetry === undefined ? {} : { telemetry: edges.telemetry }),
  };
}

function asAddress(address: string | PeerAddress): PeerAddress {
  return typeof address === "string" ? { url: address } : address;
}

function unknownPeer(id: string, addresses: ReadonlyMap<string, PeerAddress>): AgentError {
  const known = [...addresses.keys()];
  return new AgentError(
    "not_found",
    `unknown peer ${JSON.stringify(id)}; ${known.length === 0 ? "the address book is empty" : `known peers: ${known.join(", ")}`}`,
    { sent: "no" },
  );
}
