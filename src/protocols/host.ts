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

/** The parts of a host. Everything optional has a default that is safe for tests. */
export interface HostParts {
  readonly handler: Handler;
  readonly cards: readonly Card[];
  readonly ids: IdSource;
  readonly limits?: Maybe<Limits>;
  /** Default: HTTP/1.1 only. */
  readonly http2?: Maybe<boolean>;
  readonly admit?: Maybe<(request: HttpRequest) => Principal | Promise<Principal>>;
  /** Default: cards are not signed. */
  readonly signatures?: Maybe<Host["signatures"]>;
  /** The public base URL. Default: taken from the `Host` header. */
  readonly publicUrl?: Maybe<string>;
  readonly settings?: Maybe<{ readonly [protocol: string]: JsonObject }>;
  /** Default: faults are ignored. */
  readonly onFault?: Maybe<Host["fault"]>;
  readonly model?: Maybe<LanguageModel>;
  /** Default: none; `records()` throws. */
  readonly records?: Maybe<Records>;
  /** Default: URLs in messages are not fetched. */
  readonly follow?: Maybe<Host["follow"]>;
  /** Called for everything that could not be carried between a caller and the named agent. */
  readonly onLoss?: Maybe<(loss: Loss, agent: string, request: HttpRequest) => void>;
  /** Whether the caller's credentials are forwarded to the agent's upstream. Default: never. */
  readonly sendsCredentialsOn?: Maybe<(agent: string) => boolean>;
  /** Called when a request has become a call. */
  callStarted?(request: HttpRequest, call: Call): void;
}

/** Creates a host from its parts. */
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
      const reportLoss = parts.onLoss && ((loss: Loss) => parts.onLoss?.(loss, agent, request));
      const credential = parts.sendsCredentialsOn?.(agent) === true ? credentialIn(request) : undefined;
      const hops = hopsIn(request.headers);
      const call = startCall({ agent, caller, credential, via, parameters, deadline, hops, request, reportLoss });
      parts.callStarted?.(request, call);
      return call;
    },
    publicUrl: (request) => publicUrl ?? ownUrl(request),
    now: parts.ids.now,
    newId: parts.ids.newId,
    fault: (thrown) => parts.onFault?.(thrown),
    model: parts.model,
    records(protocol) {
      if (parts.records === undefined) throw new AgentError("internal", "this host has no store for records");
      return recordsBelow(parts.records, protocol);
    },
    follow: parts.follow ?? rejectFollow,
    settings: (protocol) => parts.settings?.[protocol],
  };
}

function credentialIn({ headers: { authorization } }: HttpRequest): Maybe<CallerCredential> {
  return authorization === undefined ? undefined : new CallerCredential(authorization);
}

async function rejectFollow(): Promise<never> {
  throw new AgentError("forbidden", "this host does not fetch URLs from messages", { sent: "no" });
}

function ownUrl({ connection, headers }: HttpRequest): string {
  return `${connection.secure ? "https" : "http"}://${headers["host"] ?? "localhost"}`;
}
