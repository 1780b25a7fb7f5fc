import {
  ANONYMOUS,
  type Call,
  type Card,
  type Handler,
  type JsonObject,
  type Maybe,
  type Principal,
  startCall,
} from "../envelope/index.js";
import type { Request } from "../transport/exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../transport/limits.js";
import type { Host, Ids } from "./protocol.js";

export interface HostParts {
  readonly handler: Handler;
  readonly cards: readonly Card[];
  readonly ids: Ids;
  readonly limits?: Maybe<Limits>;
  /** Default: only HTTP/1.1 is carried. */
  readonly http2?: Maybe<boolean>;
  readonly admit?: Maybe<(request: Request) => Principal | Promise<Principal>>;
  /** Default: cards are not signed. */
  readonly signatures?: Maybe<Host["signatures"]>;
  /** The address callers use, when it is not the one in their `Host` header. */
  readonly publicUrl?: Maybe<string>;
  readonly settings?: Maybe<{ readonly [protocol: string]: JsonObject }>;
  /** Told when a request has become a call. */
  began?(request: Request, call: Call): void;
}

/** A host out of its parts: what server halves are made for, whether agents, a peer or a test stand behind it. */
export function createHost(parts: HostParts): Host {
  const publicUrl = parts.publicUrl?.replace(/\/$/, "");
  return {
    handler: parts.handler,
    limits: parts.limits ?? DEFAULT_LIMITS,
    http2: parts.http2 ?? false,
    cards: () => parts.cards,
    signatures: parts.signatures ?? (() => []),
    admit: parts.admit ?? (() => ANONYMOUS),
    begin(request, { caller, agent, via, parameters, deadline }) {
      const call = startCall({ agent, caller, via, parameters, deadline, heard: request });
      parts.began?.(request, call);
      return call;
    },
    publicUrl: (request) => publicUrl ?? ownUrl(request),
    now: parts.ids.now,
    newId: parts.ids.newId,
    settings: (protocol) => parts.settings?.[protocol],
  };
}

function ownUrl({ connection, headers }: Request): string {
  return `${connection.secure ? "https" : "http"}://${headers["host"] ?? "localhost"}`;
}
