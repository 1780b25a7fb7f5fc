import {
  AgentError,
  ANONYMOUS,
  type Call,
  CallerCredential,
  type Card,
  type Handler,
  type JsonObject,
  type Loss,
  type Maybe,
  type Principal,
  type Records,
  recordsBelow,
  startCall,
} from "../envelope/index.js";
import type { LanguageModel } from "../router/models/index.js";
import { hopsIn } from "../transport/call-headers.js";
import type { HttpRequest } from "../transport/exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../transport/limits.js";
import type { Host, IdSource } from "./protocol.js";

export interface HostParts {
  readonly handler: Handler;
  readonly cards: readonly Card[];
  readonly ids: IdSource;
  readonly limits?: Maybe<Limits>;
  /** Default: only HTTP/1.1 is carried. */
  readonly http2?: Maybe<boolean>;
  readonly admit?: Maybe<(request: HttpRequest) => Principal | Promise<Principal>>;
  /** Default: cards are not signed. */
  readonly signatures?: Maybe<Host["signatures"]>;
  /** The address callers use, when it is not the one in their `Host` header. */
  readonly publicUrl?: Maybe<string>;
  readonly settings?: Maybe<{ readonly [protocol: string]: JsonObject }>;
  /** Default: nobody hears of faults. */
  readonly onFault?: Maybe<Host["fault"]>;
  readonly model?: Maybe<LanguageModel>;
  /** Default: nothing can be remembered, and a protocol that tries is told so. */
  readonly records?: Maybe<Records>;
  /** Default: no URL out of a message is followed. */
  readonly follow?: Maybe<Host["follow"]>;
  /** Hears of everything that could not be carried between a caller and the agent of this name. */
  readonly onLoss?: Maybe<(loss: Loss, agent: string, request: HttpRequest) => void>;
  /** True for an agent that stands for another one, to which its callers' own credentials go on. Default: for none. */
  readonly sendsCredentialsOn?: Maybe<(agent: string) => boolean>;
  /** Told when a request has become a call. */
  began?(request: HttpRequest, call: Call): void;
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
      const lose = parts.onLoss && ((loss: Loss) => parts.onLoss?.(loss, agent, request));
      const credential = parts.sendsCredentialsOn?.(agent) === true ? credentialIn(request) : undefined;
      const hops = hopsIn(request.headers);
      const call = startCall({ agent, caller, credential, via, parameters, deadline, hops, request, reportLoss: lose });
      parts.began?.(request, call);
      return call;
    },
    publicUrl: (request) => publicUrl ?? ownUrl(request),
    now: parts.ids.now,
    newId: parts.ids.newId,
    fault: (thrown) => parts.onFault?.(thrown),
    model: parts.model,
    records(protocol) {
      if (parts.records === undefined) throw new AgentError("internal", "this host has nowhere to remember anything");
      return recordsBelow(parts.records, protocol);
    },
    follow: parts.follow ?? refuseToFollow,
    settings: (protocol) => parts.settings?.[protocol],
  };
}

function credentialIn({ headers: { authorization } }: HttpRequest): Maybe<CallerCredential> {
  return authorization === undefined ? undefined : new CallerCredential(authorization);
}

async function refuseToFollow(): Promise<never> {
  throw new AgentError("forbidden", "no address out of a message is followed here", { sent: "no" });
}

function ownUrl({ connection, headers }: HttpRequest): string {
  return `${connection.secure ? "https" : "http"}://${headers["host"] ?? "localhost"}`;
}
