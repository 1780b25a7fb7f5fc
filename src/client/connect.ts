import {
  AgentError,
  type Card,
  type Envelope,
  type Handler,
  type Interface,
  isPromise,
  type Maybe,
  type Part,
  startCall,
} from "../envelope/index.js";
import { type CardSignatureResult, classOfUrl, resolveByDns } from "../security/index.js";
import { followLinks } from "./large-parts.js";
import type { Candidate, Shares } from "./pick-interface.js";
import { type AgentClient, agentClient } from "./remote-agent.js";
import { type ConnectOptions, type PeerTarget, peerTargetOf, type ResolvedPeer, resolvePeer } from "./resolve-peer.js";

/** A connected peer: the interface in use, the evidence for it, and the calls it takes. */
export interface RemoteAgent extends AgentClient {
  readonly url: string;
  readonly protocol: string;
  readonly version: string;
  readonly binding: string;
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
  /** Fetches what a URL part of an answer points to, through the outbound guard; size and digest are checked. */
  fetch(part: Part, signal?: AbortSignal): Promise<Part>;
  /** Messages the peer initiates. Throws `unsupported` on first use where the protocol has none. */
  receive(): AsyncIterable<Envelope>;
  /** Distributes sends by percentage from now on. */
  share(shares: Shares): void;
  /** Waits for active calls, then closes the connections. */
  close(): Promise<void>;
}

/** Discovers which protocols an address speaks, and connects to it. */
export async function connect(url: string, options: ConnectOptions = {}): Promise<RemoteAgent> {
  const target = peerTargetOf(checkedUrl(url), options);
  try {
    return remoteAgent(target, await resolvePeer(target, false));
  } catch (thrown) {
    if (options.link === undefined) await target.link.close();
    throw thrown;
  }
}

/** The client of the peer as last resolved; `initialize` may resolve it to another interface. */
function remoteAgent(target: PeerTarget, initial: ResolvedPeer): RemoteAgent {
  let resolved = initial;
  let cannotReceive: Maybe<AgentError>;
  const { address, link, ids, as, options } = target;
  const handler: Handler = (operation, call) => resolved.connection.handle(operation, call);
  const dst = (): string => resolved.connection.current.peer.card.name;
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
      resolved = await resolvePeer(target, true);
    },
    health: () => answersPing(handler),
    receive() {
      const { protocol, peer } = resolved.connection.current;
      if (cannotReceive === undefined && protocol.receive !== undefined) {
        return protocol.receive(target.credentials.linkFor(peer.card), peer, startCall());
      }
      cannotReceive ??= new AgentError("unsupported", `${protocol.id} has no messages initiated by the peer`, { sent: "no" });
      return failing(cannotReceive);
    },
    async fetch(part, signal = new AbortController().signal) {
      return followLinks(await classOfUrl(address, resolveByDns))(part, signal);
    },
    share(shares) {
      resolved.connection.shares = shares;
    },
    close: () => link.close(),
  };
}

function interfaceOf({ protocol, peer: { version, binding, url, tenant } }: Candidate): Interface {
  return { protocol: protocol.id, version, binding, url, tenant };
}

async function answersPing(handler: Handler): Promise<boolean> {
  try {
    const reply = handler({ kind: "ping" }, startCall());
    return isPromise(reply) && (await reply).kind === "done";
  } catch {
    return false;
  }
}

/** An iterable that throws when it is read, as a failed stream does. */
function failing(error: AgentError): AsyncIterable<Envelope> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) };
}

function checkedUrl(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new AgentError("invalid_message", `${JSON.stringify(url.slice(0, 200))} is not a URL; expected http://host:port`, {
      field: "url",
      sent: "no",
    });
  }
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    throw new AgentError("unsupported", `unsupported URL scheme ${parsed.protocol} expected http or https`, {
      field: "url",
      sent: "no",
    });
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new AgentError("invalid_message", "credentials in a URL are not supported; pass them as the credentials option", {
      field: "url",
      sent: "no",
    });
  }
  return parsed.href.replace(/\/$/, "");
}
