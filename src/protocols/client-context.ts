import { AgentError, type JsonObject, type Maybe, type Records, type ReplayGuard, recordsBelow } from "../envelope/index.js";
import type { LanguageModel } from "../router/models/index.js";
import { createResolver, type Identity, type Resolver } from "../security/identity/index.js";
import { createReplayGuard } from "../security/replay/index.js";
import type { Link } from "../transport/exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../transport/limits.js";
import { MessageInbox } from "./inbox.js";
import type { ClientInbox, DiscoveryContext, IdSource } from "./protocol.js";

/** The parts of a client's environment. Everything optional has a default that is safe for tests. */
export interface ClientParts {
  readonly link: Link;
  /** Default: the peer was called by its address. */
  readonly calledDid?: Maybe<string>;
  /** The id source. */
  readonly ids: IdSource;
  /** Size and time limits. Default: `DEFAULT_LIMITS`. */
  readonly limits?: Maybe<Limits>;
  /** The identity of the caller. Default: none. */
  readonly identity?: Maybe<Identity>;
  /** Finds DID documents. Default: did:key, and did:web at public addresses. */
  readonly resolver?: Maybe<Resolver>;
  /** Accepts each signed message once. Default: in memory. */
  readonly replay?: Maybe<ReplayGuard>;
  /** The language model for protocols that need one. Default: none. */
  readonly model?: Maybe<LanguageModel>;
  /** Default: none; `records()` throws. */
  readonly records?: Maybe<() => Records>;
  /** Settings by protocol name. Default: none. */
  readonly settings?: Maybe<{ readonly [protocol: string]: JsonObject }>;
  /** Messages that the peer initiates. Default: they wait, up to the limit, and nobody reads them. */
  readonly inbox?: Maybe<ClientInbox>;
  /** Receives errors inside a protocol implementation. Default: ignored. */
  readonly onFault?: Maybe<(thrown: unknown) => void>;
}

/** Creates the environment of a client from its parts. With a peer it is a `ClientContext`. */
export function createClientContext(parts: ClientParts): DiscoveryContext {
  const limits = parts.limits ?? DEFAULT_LIMITS;
  return {
    link: parts.link,
    calledDid: parts.calledDid,
    limits,
    inbox: parts.inbox ?? new MessageInbox({ limit: limits.inboxMessages }),
    fault: (thrown) => parts.onFault?.(thrown),
    identity: parts.identity,
    resolver: parts.resolver ?? createResolver({ now: () => parts.ids.now() }),
    replay: parts.replay ?? createReplayGuard({ limits, now: () => parts.ids.now() }),
    model: parts.model,
    now: () => parts.ids.now(),
    newId: () => parts.ids.newId(),
    records(protocol) {
      if (parts.records === undefined) throw new AgentError("internal", "this client has no store for records");
      return recordsBelow(parts.records(), protocol);
    },
    settings: (protocol) => parts.settings?.[protocol],
  };
}
