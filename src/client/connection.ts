import {
  AgentError,
  asProbe,
  type Call,
  type Envelope,
  type Handler,
  healthChecks,
  isPromise,
  type Maybe,
  NO_FLOOR,
  type Operation,
  type Reply,
  raiseFloor,
} from "../envelope/index.js";
import { keepProtection } from "../protocols/keep-protection.js";
import type { Client, ClientContext } from "../protocols/protocol.js";
import { traitsOf } from "../protocols/traits.js";
import type { Link, Session } from "../transport/exchange.js";
import { openSession } from "../transport/links.js";
import { httpAddress, makeRequest } from "../transport/request.js";
import { answerWithFallback, StreamWithFallback } from "./fallback.js";
import type { FloorRules } from "./floor-rules.js";
import { type Candidate, type InterfaceWish, mayReplace, pickInterface, type Shares, withinVersions } from "./pick-interface.js";
import { requireSecurity } from "./require-security.js";

export interface ConnectionOptions {
  contextFor(candidate: Candidate): ClientContext;
  readonly candidates: readonly Candidate[];
  readonly random: () => number;
  /** The layers around the handler of each interface: policies and telemetry. */
  wrap(handler: Handler, candidate: Candidate): Handler;
  /** The peer rejected a version that its card names. */
  onVersionError(candidate: Candidate): void;
  readonly floor: FloorRules;
  /** The address that is dialled for an address on the card. */
  dialled(url: string): string;
}

/**
 * One peer with all its interfaces. An interface that turns out not to be supported is replaced by the next one, but only
 * where the peer cannot have acted on the request: this is interface selection, not a retry.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #opened = new Map<Candidate, OpenedInterface>();
  #candidates: readonly Candidate[];
  /** May be changed during calls; applies to the next send. */
  shares: Shares = {};

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#candidates = options.floor.required === NO_FLOOR ? options.candidates : this.#securedFirst(options.candidates);
  }

  /** The interface of the next message without a hint. */
  get current(): Candidate {
    return pickInterface(this.#candidates, undefined, {}, this.#options.random);
  }

  /** The transport to the current interface, with the credentials that its card requires. */
  get link(): Link {
    return this.#options.contextFor(this.current).link;
  }

  get candidates(): readonly Candidate[] {
    return this.#candidates;
  }

  readonly handle: Handler = (operation, call) => {
    const wish = wishOf(operation, call);
    const { hint } = wish;
    let chosen: Candidate;
    try {
      chosen = pickInterface(this.#candidates, hint, this.shares, this.#options.random);
      chosen = withinVersions(chosen, this.#candidates, wish);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
    const reply = this.#open(chosen).handler(operation, call);
    if (this.#candidates.length === 1 || (hint !== undefined && hint !== "")) return reply;
    const tried = [chosen];
    const fallBack = (thrown: unknown): Maybe<Reply> => this.#fallBack(thrown, tried, operation, call, wish);
    return isPromise(reply) ? answerWithFallback(reply, fallBack) : new StreamWithFallback(reply, fallBack);
  };

  /** The same operation on an interface not tried yet, if the peer certainly did nothing; else undefined. */
  // biome-ignore lint/complexity/useMaxParams: the state of one call, made in one place
  #fallBack(thrown: unknown, tried: Candidate[], operation: Operation, call: Call, wish: InterfaceWish): Maybe<Reply> {
    const error = AgentError.from(thrown);
    const failed = tried.at(-1);
    if (failed === undefined || !isUnhandled(error)) return undefined;
    if (error.code === "unsupported_version") this.#options.onVersionError(failed);
    // A method missing from one version says nothing about the address; any other failure moves the interface to the end.
    if (error.code !== "unsupported_method") this.#candidates = [...this.#candidates.filter((each) => each !== failed), failed];
    // An origin that refuses connections refuses them for every protocol.
    const gone = error.code === "unavailable" ? originOf(failed) : undefined;
    const next = this.#candidates.find(
      (each) => !tried.includes(each) && originOf(each) !== gone && mayReplace(each, failed, wish),
    );
    if (next === undefined) return undefined;
    tried.push(next);
    return this.#open(next).handler(operation, call);
  }

  /** A round trip on the connection in use, inside no policy and no telemetry. */
  ping(call: Call): Promise<void> {
    const check = asProbe(call);
    healthChecks.put(check, true);
    return answersPing(this.#open(this.current).client.handler, check);
  }

  /** Messages initiated by the peer on the current interface; undefined if its protocol has none. */
  receive(call: Call): Maybe<AsyncIterable<Envelope>> {
    return this.#open(this.current).client.receive?.(call);
  }

  /** Opens a session at an interface for somebody else, whose protocol it is. No policy applies: its messages are not calls here. */
  openSession(url: string, subprotocols: readonly string[], call: Call): Promise<Session> {
    const candidate = this.#candidates.find(({ peer }) => peer.url === url);
    if (candidate === undefined)
      return Promise.reject(new AgentError("unavailable", "the peer no longer has this interface", { sent: "no" }));
    const { link } = this.#options.contextFor(candidate);
    return openSession(link, makeRequest({ method: "GET", url, call }), subprotocols);
  }

  /** Closes the protocol clients. The link is closed by its owner. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#opened.values(), ({ client }) => client.close()));
  }

  /** Interfaces that refuse what every call to the peer must have come last, in their order. */
  #securedFirst(candidates: readonly Candidate[]): readonly Candidate[] {
    const { floor, dialled } = this.#options;
    const isRefused = (candidate: Candidate): boolean => {
      const { protocol, peer } = candidate;
      const url = dialled(peer.url);
      let provided = floor.signedAt(url);
      try {
        provided = raiseFloor(provided, this.#open(candidate).client.protection());
      } catch {
        return true; // it cannot be called, which the first call reports
      }
      return floor.verdicts(NO_FLOOR, { protocol: protocol.id, url, provided }).some(({ outcome }) => outcome === "refused");
    };
    const refused = new Set(candidates.filter(isRefused));
    return [...candidates.filter((each) => !refused.has(each)), ...refused];
  }

  #open(candidate: Candidate): OpenedInterface {
    let opened = this.#opened.get(candidate);
    if (opened === undefined) {
      const { contextFor, wrap, dialled, floor } = this.#options;
      const { peer } = candidate;
      const client = candidate.protocol.connect(contextFor(candidate));
      const protocol = { id: candidate.protocol.id, traits: traitsOf(candidate.protocol, peer.version, peer.binding) };
      const secured = { protocol, client, url: peer.url, dialled: dialled(peer.url) };
      opened = { client, handler: wrap(requireSecurity(keepProtection(client.handler, protocol), secured, floor), candidate) };
      this.#opened.set(candidate, opened);
    }
    return opened;
  }
}

/** What the author of a message says about the interface: nothing to the upstream of a gateway that passes it on. */
function wishOf(operation: Operation, { hops }: Call): InterfaceWish {
  if (operation.kind !== "send" || hops > 0) return NO_WISH;
  const { meta, context } = operation.envelope;
  const hasRange = context.minVersion !== undefined || context.maxVersion !== undefined;
  return { hint: meta.protocolHint, versions: hasRange ? context : undefined };
}

const NO_WISH: InterfaceWish = { hint: undefined, versions: undefined };

/** The client of one interface, and its handler inside all layers. */
interface OpenedInterface {
  readonly client: Client;
  readonly handler: Handler;
}

async function answersPing(handler: Handler, call: Call): Promise<void> {
  const reply = handler({ kind: "ping" }, call);
  const event = isPromise(reply) ? await reply : undefined;
  if (event?.kind !== "done") throw new AgentError("bad_peer", "unexpected reply to a ping");
}

/** Scheme, host and port; a target without them is its own origin. */
function originOf({ peer: { url } }: Candidate): string {
  const address = httpAddress(url);
  return URL.canParse(address) && new URL(address).origin !== "null"
    ? new URL(address).origin
    : url.replace(/^[a-z+]+:\/\//, "http://");
}

/** The peer did not support the request, or did not receive it: in both cases it did nothing. */
function isUnhandled({ code, facts }: AgentError): boolean {
  if (code === "unsupported_version" || code === "unsupported_method") return true;
  return (code === "unavailable" && facts.sent === "no") || (code === "not_found" && facts.status === 404);
}
