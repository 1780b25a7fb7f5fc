import { followLinks, followUrls, streamLinks } from "../client/follow-links.js";
import { type LargePartOptions, LargeParts } from "../client/large-parts.js";
import {
  type Interface,
  type JsonObject,
  type Layer,
  type Maybe,
  type ReplayGuard,
  type Requirement,
  systemIds,
} from "../envelope/index.js";
import { refuseLoops } from "../policies/hops.js";
import { limitOpenStreams, type PolicySink, stack } from "../policies/index.js";
import { protocols as registered } from "../protocols/all.js";
import { type ExtraRoute, type Front, front } from "../protocols/front.js";
import { createHost } from "../protocols/host.js";
import type { Replies } from "../protocols/index.js";
import type { IdSource, Protocol } from "../protocols/protocol.js";
import type { LanguageModel } from "../router/models/index.js";
import { grantTenants } from "../security/grant-tenants.js";
import {
  type Admission,
  type AuditSink,
  auditTrail,
  type CardSigner,
  cardSignatures,
  describeSecurity,
  type HostCheck,
  openAdmission,
} from "../security/index.js";
import {
  createMemoryStore,
  createRuntime,
  DEFAULT_TASK_LIMITS,
  type FetchPart,
  type PushPort,
  type ReadPart,
  type Runtime,
  type Store,
  type TaskLimits,
} from "../tasks/index.js";
import { noTelemetry, type Telemetry } from "../telemetry/index.js";
import type { Exchange, HttpResponse, Intake, RequestHead } from "../transport/exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../transport/limits.js";
import type { TrustedProxies } from "../transport/node/index.js";
import { errorResponse } from "../transport/response.js";
import type { Agent } from "./agent.js";
import { extensionsOf, recordsIn } from "./at-rest.js";
import type { CallerReach } from "./caller-reach.js";
import { guardUnserved } from "./guard-unserved.js";
import { credentialForwarders, hostedAgents, hostHandler } from "./host-handler.js";
import { limitMembers } from "./limit-members.js";
import { lossSinkOf } from "./loss-sink.js";
import { metricsRoute } from "./metrics-route.js";
import { observeFront } from "./observe-front.js";
import { outgoingRequests } from "./outgoing-requests.js";
import { checkSigning, type IdentityOptions, identityParts } from "./publish-identity.js";
import { openPush, type PushOptions } from "./push-sender.js";
import type { OnError } from "./report-errors.js";
import { requiredSecurity } from "./required-security.js";
import { servedFunction } from "./served-function.js";
import { ServerHealth } from "./server-health.js";
import { sessionCalls } from "./session-calls.js";
import { verifiedSource } from "./verified-source.js";
import { webhookSecurity } from "./webhook-floor.js";

/** Options common to `serve` and `mount`. */
export interface HostOptions extends IdentityOptions {
  /** Default: every registered protocol. */
  readonly protocols?: readonly Protocol[];
  /** Who may call. Default: all callers, as one anonymous owner; then only loopback may be bound. */
  readonly admission?: Admission;
  /** The tenants that callers may name, by caller. Default: those of their tokens; anonymous callers may name any. */
  readonly tenants?: Maybe<{ readonly [caller: string]: readonly string[] }>;
  /** Ids of callers that are gateways and speak for others: their messages keep the `src` that they state. */
  readonly gateways?: readonly string[];
  /** The security that callers must bring to every agent; others are refused. Default: what each agent requires. */
  readonly require?: readonly Requirement[];
  /** Receives a note for each caller that is refused for it. Default: counted by `telemetry`. */
  readonly notes?: PolicySink;
  /** The audit log of decisions about callers. The opener closes it, after the server. */
  readonly audit?: AuditSink;
  /** The address callers use, if it differs from their `Host` header: behind a proxy, for example. */
  readonly publicUrl?: string;
  /** Reverse proxies in front: only they are believed about a caller's address. Default: none. */
  readonly trustedProxies?: TrustedProxies;
  /** The keys that sign every served card. Beyond loopback this needs `publicUrl`. */
  readonly cardKeys?: readonly CardSigner[];
  /** Where tasks are stored. Default: in memory. */
  readonly store?: Store;
  /**
   * Accepts each signed message once. Default: that of the store. The store in memory has none: then signed messages from before the start
   * are refused.
   */
  readonly replay?: ReplayGuard;
  /** Overrides of the transport limits (`DEFAULT_LIMITS`). */
  readonly limits?: Partial<Limits>;
  /** Overrides of the task limits (`DEFAULT_TASK_LIMITS`). */
  readonly taskLimits?: Partial<TaskLimits>;
  /** Receives metrics, traces and hooks. Default: none. */
  readonly telemetry?: Telemetry;
  /** Serves Prometheus text at `/metrics` of the callers' port, to all admitted callers. Default: only the admin listener does. */
  readonly metrics?: "admitted";
  /**
   * Push notifications: by the built-in sender, to public addresses and those of `allow`, or through your own port.
   * Default: true for `serve`, false for `mount`.
   */
  readonly push?: boolean | PushOptions | PushPort;
  /** Policies around the agents, outermost first. */
  readonly layers?: readonly Layer[];
  /** Settings of each protocol, by its id. */
  readonly settings?: { readonly [protocol: string]: JsonObject };
  /** The language model for features that need one, such as negotiating a protocol document. Default: none; they are unsupported. */
  readonly model?: LanguageModel;
  /** Called with internal errors of agents and the host; callers see only that the call failed. */
  readonly onError?: OnError;
  /** Where large parts are stored. Default: all content is sent inline, up to the body limit. */
  readonly artifacts?: LargePartOptions;
  /** Routes that belong to no protocol. They have the lowest rank. */
  readonly routes?: readonly ExtraRoute[];
  /** Hosts, `name` or `name:port`, to which links in messages may point whatever their address. */
  readonly followTo?: readonly string[];
  /** The id source. Default: random ids. */
  readonly ids?: IdSource;
}

/** A host without a port. */
export interface Assembled extends Pick<Front, "isHealthCheck" | "retire" | "say"> {
  /** Whether it can answer calls, and what is served, for operators. */
  details(): Promise<JsonObject>;
  /** Decides about requests and sessions by their head. */
  readonly intake: Required<Intake>;
  /** Answers a complete request. */
  readonly exchange: Exchange;
  /** Whether a route of this host matches the path. */
  claims(path: string): boolean;
  readonly limits: Limits;
  readonly admission: Admission;
  /** Set once the port is known. */
  checkHost: Maybe<HostCheck>;
  /** Checks upgrades only, where another app checks requests. */
  checkUpgrade: Maybe<HostCheck>;
  /** The address callers use, for links: set once the port is known. */
  url: string;
  /** The interfaces of one agent, the preferred one first; known once the address is. */
  interfaces(agent: string): readonly Interface[];
  /** The number of active tasks, replies and streams. */
  activeCalls(): number;
  close(drainMs: number): Promise<void>;
}

/** What the server of a host can do. */
export interface ServerTraits {
  /** Where its callers are. */
  readonly reach: CallerReach;
  /** HTTP/2 with trailers. */
  readonly http2: boolean;
  readonly sessions: boolean;
  /** It has the port for itself: `/livez` and `/readyz` are its own. */
  readonly ownPort: boolean;
  /** The connections of this process whose answers arrive at the server. Default: there are none. */
  readonly replies?: Maybe<Replies>;
}

/** Combines agents, runtime, protocols and guards into one server without a port. Opens nothing. */
export function assemble(agents: readonly Agent[], options: HostOptions, traits: ServerTraits): Assembled {
  const { reach, http2, sessions, ownPort } = traits;
  const { ids = systemIds, telemetry = noTelemetry } = options;
  const trail = options.audit && auditTrail(options.audit, ids);
  const observer = observeFront(telemetry, trail);
  const admission = audited(grantTenants(options.admission ?? openAdmission(), options.tenants), trail?.admission);
  checkSigning(options, reach.class);
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const taskLimits: TaskLimits = { ...DEFAULT_TASK_LIMITS, ...options.taskLimits };
  const hasPush = options.push !== undefined && options.push !== false;
  const offered = { push: hasPush, pushDelivery: hasPush, idempotencyWindowMs: taskLimits.idempotencyKeepMs };
  const protocols = options.protocols ?? registered;
  const store = options.store ?? createMemoryStore({ limits: taskLimits, now: ids.now });
  const extensions = extensionsOf(protocols, options, store);
  const hosted = hostedAgents(agents, describeSecurity(admission), offered, extensions);
  const large =
    options.artifacts && new LargeParts(options.artifacts, { now: ids.now, baseUrl: () => assembled.url, tasks: store });
  const served = new Map(
    agents.map((each) => [
      each.name,
      {
        handle: servedFunction(each, { onError: options.onError, large, reach: reach.class }),
        restartable: each.restartable,
        cancel: each.cancel?.bind(each),
        forward: each.forward?.bind(each),
        marks: each.taskMetadata?.bind(each),
      },
    ]),
  );
  const notes = options.notes ?? telemetry.policies("caller");
  const pushing = { ...webhookSecurity(options, notes, ids), notify: () => listener.notify };
  const push = openPush(options.push, { ...pushing, atOnce: taskLimits.pushesAtOnce });
  const fetchPart: FetchPart = (part, signal) => followLinks(reach.class, options.followTo)(part, signal);
  const readPart: ReadPart = (part, signal) => streamLinks(reach.class, options.followTo)(part, signal);
  const runtime: Runtime = createRuntime({
    agents: served,
    store,
    ids,
    limits: taskLimits,
    fetchPart: large?.fetching(fetchPart) ?? fetchPart,
    readPart: large?.reading(readPart) ?? readPart,
    push: push.port,
  });
  const inSessions = sessionCalls(limits.sessionCalls);
  const layers = stack([
    limitMembers(limits),
    verifiedSource(options.gateways ?? []),
    telemetry.server(),
    refuseLoops(limits.hops),
    inSessions.layer,
    limitOpenStreams(limits),
    ...(options.layers ?? []),
  ]);
  const handler = layers(hostHandler(hosted, runtime.handler));
  for (const agent of agents) {
    agent.bindSelf(handler, large);
    for (const reason of agent.downgrades ?? []) trail?.note("downgrade", { what: "a card", agent: agent.name, reason });
  }

  const health = new ServerHealth({ agents, store, probes: ownPort });
  const outgoing = outgoingRequests({ limits, reach: () => reach.class, allow: options.followTo });
  const host = createHost({
    ...identityParts(options, protocols, { from: () => reach.class, now: () => ids.now(), records: store.records }),
    handler,
    health,
    cards: Array.from(hosted.values(), ({ card }) => card),
    signatures: cardSignatures(options.cardKeys ?? []),
    ids,
    limits,
    http2,
    sessions,
    admission,
    publicUrl: options.publicUrl,
    settings: options.settings,
    onFault: options.onError,
    model: options.model,
    ...recordsIn(store),
    largeContent: large?.howToUpload,
    replay: options.replay ?? store.replayGuard?.(limits, ids.now),
    replies: traits.replies,
    outgoing: outgoing.run,
    follow: (url, bounds) => followUrls(reach.class, options.followTo)(url, bounds),
    onLoss: lossSinkOf(agents, telemetry),
    sendsCredentialsOn: credentialForwarders(agents),
    ...requiredSecurity(agents, { ...options, notes }, trail),
    onRelayed: observer.onRelayed,
    callStarted(from, call) {
      reach.callStarted(from);
      inSessions.callStarted(from, call);
      telemetry.callStarted?.(from, call);
    },
  });
  const extraRoutes = [...(large?.routes ?? []), ...metricsRoute(options, telemetry), ...(options.routes ?? [])];
  const listener = front(guardUnserved(host, protocols), protocols, extraRoutes, observer);
  /** The refusal of a foreign host name or origin, before anything else is looked at. */
  function refusedBy(check: Maybe<HostCheck>, head: RequestHead): Maybe<HttpResponse> {
    const refused = check?.(head);
    if (refused === undefined) return undefined;
    trail?.refused(head, refused);
    return errorResponse(403, refused);
  }

  const refusedHost = (head: RequestHead): Maybe<HttpResponse> => refusedBy(assembled.checkHost, head);
  const { claims, isHealthCheck, retire, say } = listener;
  const assembled: Assembled = {
    ...{ claims, isHealthCheck, retire, say },
    limits,
    admission,
    checkHost: undefined,
    checkUpgrade: undefined,
    url: options.publicUrl?.replace(/\/$/, "") ?? "",
    exchange: (request) => refusedHost(request) ?? listener.exchange(request),
    intake: {
      take: (request) => refusedHost(request) ?? listener.take(request),
      refuse: (request, reason) => refusedHost(request) ?? listener.refuse(request, reason),
      upgrade: (head) => refusedHost(head) ?? refusedBy(assembled.checkUpgrade, head) ?? listener.upgrade(head),
    },
    interfaces: (agent) => listener.interfaces(agent, assembled.url),
    activeCalls() {
      const { runningTasks, bareReplies, openStreams } = runtime.stats();
      return runningTasks + bareReplies + openStreams;
    },
    details: async () => ({ ...(await health.details()), ...listener.details() }),
    async close(drainMs) {
      health.draining = true;
      large?.close();
      await runtime.close(drainMs);
      await Promise.all([push.close(), listener.close(), outgoing.close()]);
      if (options.resolver === undefined) await host.resolver.close?.();
    },
  };
  return assembled;
}

const audited = <T>(plain: T, audit: Maybe<(plain: T) => T>): T => (audit === undefined ? plain : audit(plain));
