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

/** A connected peer: what it speaks, how we know, and the calls one can make. */
export interface RemoteAgent extends AgentClient {
  readonly url: string;
  readonly protocol: string;
  readonly version: string;
  readonly binding: string;
  readonly card: Card;
  /** Every way that was found to reach it, by whatever protocol; the next message without a hint takes the first. */
  readonly interfaces: readonly Interface[];
  /** How we know, one sentence each. */
  readonly evidence: readonly string[];
  /** A live answer was seen in this protocol's own grammar. */
  readonly verified: boolean;
  /** `unknown`: signed, but by nobody who is trusted here. By whom it is verified stands in `card.original`. */
  readonly cardTrust: CardSignatureResult["result"];
  /** Discover and prime once more. */
  initialize(): Promise<void>;
  /** True only after a real answer. */
  health(): Promise<boolean>;
  /** What a URL part of an answer points to, through the guard, size and digest checked. */
  fetch(part: Part, signal?: AbortSignal): Promise<Part>;
  /** Messages the peer starts. Where the protocol has none it is said once, and remembered. */
  receive(): AsyncIterable<Envelope>;
  /** Steers sends by percentage from now on. */
  share(shares: Shares): void;
  /** Lets calls under way end, then lets go of the connections. */
  close(): Promise<void>;
}

/** Finds out what an address speaks, and connects to it. */
export async function connect(url: string, options: ConnectOptions = {}): Promise<RemoteAgent> {
  const target = peerTargetOf(checkedUrl(url), options);
  try {
    return remoteAgent(target, await resolvePeer(target, false));
  } catch (thrown) {
    if (options.link === undefined) await target.link.close();
    throw thrown;
  }
}

/** The peer as it was reached last; `initialize` may reach it by another way. */
function remoteAgent(target: PeerTarget, found: ResolvedPeer): RemoteAgent {
  let reached = found;
  let cannotReceive: Maybe<AgentError>;
  const { address, link, ids, as, options } = target;
  const handler: Handler = (operation, call) => reached.connection.handle(operation, call);
  const dst = (): string => reached.connection.current.peer.card.name;
  const spoken = agentClient({ handler, src: as, dst, ids, onLoss: options.onLoss });
  return {
    ...spoken,
    async extendedCard() {
      return (await target.checkCard(await spoken.extendedCard())).card;
    },
    url: address,
    get protocol() {
      return reached.connection.current.protocol.id;
    },
    get version() {
      return reached.connection.current.peer.version;
    },
    get binding() {
      return reached.connection.current.peer.binding;
    },
    get card() {
      return reached.connection.current.peer.card;
    },
    get interfaces() {
      return reached.connection.candidates.map(wayOf);
    },
    get evidence() {
      return reached.evidence;
    },
    get verified() {
      return reached.verified;
    },
    get cardTrust() {
      return reached.cardTrust;
    },
    async initialize() {
      reached = await resolvePeer(target, true);
    },
    health: () => answersPing(handler),
    receive() {
      const { protocol, peer } = reached.connection.current;
      if (cannotReceive === undefined && protocol.receive !== undefined) {
        return protocol.receive(target.credentials.linkFor(peer.card), peer, startCall());
      }
      cannotReceive ??= new AgentError("unsupported", `${protocol.id} has no messages that the peer starts`, { sent: "no" });
      return refused(cannotReceive);
    },
    async fetch(part, signal = new AbortController().signal) {
      return followLinks(await classOfUrl(address, resolveByDns))(part, signal);
    },
    share(shares) {
      reached.connection.shares = shares;
    },
    close: () => link.close(),
  };
}

function wayOf({ protocol, peer: { version, binding, url, tenant } }: Candidate): Interface {
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

/** An iterable that says no when it is asked, as a stream of messages would. */
function refused(error: AgentError): AsyncIterable<Envelope> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) };
}

function checkedUrl(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new AgentError("invalid_message", `${JSON.stringify(url.slice(0, 200))} is not a URL; it looks like http://host:port`, {
      field: "url",
      sent: "no",
    });
  }
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    throw new AgentError("unsupported", `agents are reached by http and https, not by ${parsed.protocol}`, {
      field: "url",
      sent: "no",
    });
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new AgentError("invalid_message", "credentials do not belong into a URL; pass them as credentials", {
      field: "url",
      sent: "no",
    });
  }
  return parsed.href.replace(/\/$/, "");
}
