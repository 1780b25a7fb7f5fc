import type { UploadSource } from "../artifacts/index.js";
import {
  AgentError,
  CancelSource,
  type Card,
  cancelFrom,
  type Envelope,
  type Handler,
  type Interface,
  type Maybe,
  type Part,
  startCall,
} from "../envelope/index.js";
import { protocols as registered } from "../protocols/all.js";
import { protocolsFor } from "../protocols/did-methods.js";
import type { RelayedPeer } from "../protocols/index.js";
import { type CardSignatureResult, classOfUrl, resolveByDns } from "../security/index.js";
import { resolverFor } from "./did-resolvers.js";
import { followLinks, streamLinks } from "./follow-links.js";
import { peerAddress } from "./peer-address.js";
import type { RewriteAddress } from "./peer-link.js";
import type { Candidate, Shares } from "./pick-interface.js";
import { type AgentClient, agentClient } from "./remote-agent.js";
import { type ConnectOptions, type PeerTarget, peerTargetOf, type ResolvedPeer, resolvePeer } from "./resolve-peer.js";
import { type UploadOptions, uploadTo } from "./upload.js";

/** A connected peer: the interface in use, the evidence for it, and the calls it takes. */
export interface RemoteAgent extends AgentClient {
  /** The address of the selected interface. */
  readonly url: string;
  /** The selected protocol. */
  readonly protocol: string;
  /** The selected protocol version. */
  readonly version: string;
  /** The selected binding. */
  readonly binding: string;
  /** The peer's card. */
  readonly card: Card;
  /** All discovered interfaces, of any protocol; the next message without a hint uses the first. */
  readonly interfaces: readonly Interface[];
  /** The evidence of discovery, one sentence each. */
  readonly evidence: readonly string[];
  /** A live response in this protocol was received. */
  readonly verified: boolean;
  /** `unknown`: signed, but by no trusted key. The verified signer is in `card.original`. */
  readonly cardTrust: CardSignatureResult["result"];
  /** Discovers the peer again. */
  initialize(): Promise<void>;
  /** Pings the peer; true only after a real response. */
  health(): Promise<boolean>;
  /**
   * One round trip on the connection in use. It is no call: policies do not delay or repeat it, and telemetry does not count it.
   * Throws AgentError.
   */
  ping(signal?: AbortSignal): Promise<void>;
  /** Fetches what a URL part of an answer points to, through the outbound guard; size and digest are checked. */
  fetch(part: Part, signal?: AbortSignal): Promise<Part>;
  /** Streams what a URL part of an answer points to, of any size, in the same way. */
  read(part: Part & { readonly kind: "url" }, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Uploads content in pieces to the peer's artifact store and returns a part that refers to it, to be sent in a message. After a cut it
   * goes on where the peer stands. Throws `unsupported` where the peer has no artifact store of Koine.
   */
  upload(source: UploadSource, options?: UploadOptions): Promise<Part>;
  /** Messages the peer initiates. Throws `unsupported` on first use where the protocol has none. */
  receive(): AsyncIterable<Envelope>;
  /** Distributes sends by percentage from now on. */
  share(shares: Shares): void;
  /** Waits for active calls, then closes the connections. */
  close(): Promise<void>;
}

/** A connected peer that a bridge can pass sessions on to. */
export type RelayableAgent = RemoteAgent & RelayedPeer;

/** Discovers which protocols an address speaks, and connects to it: an `http:`, `https:`, `ws:` or `wss:` URL, or a DID. */
export function connect(url: string, options: ConnectOptions = {}): Promise<RemoteAgent> {
  return connectRewriting(url, options, undefined);
}

/** Connects to a peer whose card names addresses other than those to dial. */
export async function connectRewriting(
  url: string,
  options: ConnectOptions,
  rewrite: Maybe<RewriteAddress>,
): Promise<RelayableAgent> {
  // The user chose the DID, so its document may be anywhere.
  const resolver = options.resolver ?? resolverFor("loopback", options);
  const { url: address, did } = await peerAddress(url, resolver);
  const target = peerTargetOf(address, calledBy(did, options), rewrite, did);
  try {
    return remoteAgent(target, await resolvePeer(target, false));
  } catch (thrown) {
    target.leave();
    if (options.link === undefined) await target.link.close();
    throw thrown;
  }
}

/** A DID may belong to one protocol, which alone proves it: also one that a setting names, for an agent that is called by its address. */
function calledBy(did: Maybe<string>, options: ConnectOptions): ConnectOptions {
  if (did === undefined && options.settings === undefined) return options;
  return { ...options, protocols: protocolsFor(did, options.protocols ?? registered, options.settings) };
}

/** The client of the peer as last resolved; `initialize` may resolve it to another interface. */
function remoteAgent(target: PeerTarget, initial: ResolvedPeer): RelayableAgent {
  let resolved = initial;
  let cannotReceive: Maybe<AgentError>;
  const receiving = new Set<CancelSource>();
  const { address, link, ids, as, options } = target;
  const handler: Handler = (operation, call) => resolved.connection.handle(operation, call);
  const dst = (): string => resolved.connection.current.peer.card.name;
  const ping = (signal?: AbortSignal): Promise<void> =>
    resolved.connection.ping(startCall({ cancel: signal && cancelFrom(signal) }));
  const client = agentClient({ handler, src: as, dst, ids, onLoss: options.onLoss });
  return {
    ...client,
    async extendedCard() {
      return (await target.checkCard(await client.extendedCard())).card;
    },
    url: address,
    get protocol() {
      return resolved.connection.current.protocol.id;
    },
    get version() {
      return resolved.connection.current.peer.version;
    },
    get binding() {
      return resolved.connection.current.peer.binding;
    },
    get card() {
      return resolved.connection.current.peer.card;
    },
    get interfaces() {
      return resolved.connection.candidates.map(interfaceOf);
    },
    get evidence() {
      return resolved.evidence;
    },
    get verified() {
      return resolved.verified;
    },
    get cardTrust() {
      return resolved.cardTrust;
    },
    async initialize() {
      const before = resolved.connection;
      resolved = await resolvePeer(target, true);
      await before.close();
    },
    ping,
    health: () =>
      ping().then(
        () => true,
        () => false,
      ),
    receive() {
      const { protocol } = resolved.connection.current;
      const cancel = new CancelSource();
      const messages = cannotReceive === undefined ? resolved.connection.receive(startCall({ cancel })) : undefined;
      if (messages !== undefined) return untilCancelled(messages, cancel, receiving);
      cannotReceive ??= new AgentError("unsupported", `${protocol.id} has no messages initiated by the peer`, { sent: "no" });
      return failing(cannotReceive);
    },
    async fetch(part, signal = new AbortController().signal) {
      return followLinks(await classOfUrl(address, resolveByDns))(part, signal);
    },
    async *read(part, signal = new AbortController().signal) {
      yield* streamLinks(await classOfUrl(address, resolveByDns))(part, signal);
    },
    upload: (source, uploadOptions = {}) => uploadTo(target, resolved.connection, source, uploadOptions),
    openSession: (at, subprotocols, call) => resolved.connection.openSession(at, subprotocols, call),
    share(shares) {
      resolved.connection.shares = shares;
    },
    async close() {
      for (const cancel of receiving) cancel.cancel(new AgentError("cancelled", "the connection was closed"));
      target.leave();
      await resolved.connection.close();
      await link.close();
    },
  };
}

function interfaceOf({ protocol, peer: { version, binding, url, tenant } }: Candidate): Interface {
  return { protocol: protocol.id, version, binding, url, tenant };
}

/** Ends when the reader leaves or the connection closes, also while it waits for a message. */
function untilCancelled(
  messages: AsyncIterable<Envelope>,
  cancel: CancelSource,
  receiving: Set<CancelSource>,
): AsyncIterableIterator<Envelope> {
  const source = messages[Symbol.asyncIterator]();
  receiving.add(cancel);
  const ended = (): IteratorResult<Envelope> => {
    receiving.delete(cancel);
    return { done: true, value: undefined };
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      try {
        const step = await source.next();
        return step.done === true ? ended() : step;
      } catch (thrown) {
        if (cancel.cancelled) return ended();
        receiving.delete(cancel);
        throw thrown;
      }
    },
    async return() {
      cancel.cancel(new AgentError("cancelled", "the reader stopped reading"));
      await source.return?.();
      return ended();
    },
  };
}

/** An iterable that throws when it is read, as a failed stream does. */
function failing(error: AgentError): AsyncIterable<Envelope> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) };
}
