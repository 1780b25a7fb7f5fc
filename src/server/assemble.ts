import {
  createLargeParts,
  externalizeLargeParts,
  followLinks,
  followUrls,
  type LargePartOptions,
  type LargeParts,
} from "../client/large-parts.js";
import {
  AgentError,
  type Capabilities,
  type Card,
  type Interface,
  type JsonObject,
  type Layer,
  type Maybe,
  type Security,
  systemIds,
} from "../envelope/index.js";
import { refuseLoops } from "../policies/hops.js";
import { limitOpenStreams, stack } from "../policies/index.js";
import { protocols as registered } from "../protocols/all.js";
import { type ExtraRoute, front } from "../protocols/front.js";
import { createHost, type HostParts } from "../protocols/host.js";
import type { IdSource, Protocol } from "../protocols/protocol.js";
import type { LanguageModel } from "../router/models/index.js";
import {
  type AddressClass,
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
  type AgentFunction,
  createMemoryStore,
  createRuntime,
  DEFAULT_TASK_LIMITS,
  type PushPort,
  type Runtime,
  type Store,
  type TaskLimits,
} from "../tasks/index.js";
import { noTelemetry, type Telemetry } from "../telemetry/index.js";
import type { Exchange, HttpRequest, HttpResponse } from "../transport/exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../transport/limits.js";
import { errorResponse } from "../transport/response.js";
import type { Agent } from "./agent.js";
import { type HostedAgent, hostHandler } from "./host-handler.js";
import { openPush, type PushOptions } from "./push-sender.js";
import { type OnError, withErrorReporting } from "./report-errors.js";

/** What is the same whether we listen ourselves or are mounted in another app. */
export interface HostOptions {
  /** Default: every registered protocol. */
  readonly protocols?: readonly Protocol[];
  /** Who may call. Default: everybody, as the one anonymous owner; then only loopback may be bound. */
  readonly admission?: Admission;
  /** Where decisions about callers are written down. Whoever opened it closes it, after the server. */
  readonly audit?: AuditSink;
  /** The address callers use, when it is not the one in their `Host` header: behind a proxy, for example. */
  readonly publicUrl?: string;
  /** Every card that is served is signed by each of these. Beyond loopback this needs `publicUrl`. */
  readonly cardKeys?: readonly CardSigner[];
  readonly store?: Store;
  readonly limits?: Partial<Limits>;
  readonly taskLimits?: Partial<TaskLimits>;
  readonly telemetry?: Telemetry;
  /** Prometheus text at `/metrics`: for loopback callers only, or for everybody who may call. Default: not served. */
  readonly metrics?: "loopback" | "admitted";
  /**
   * Whether callers may ask to be told of events, and how they are told: by our own sender, to public addresses and those
   * of `allow`, or through a port of yours. Default: true for `serve`, false for `mount`.
   */
  readonly push?: boolean | PushOptions | PushPort;
  /** Policies around the agents, outermost first. */
  readonly layers?: readonly Layer[];
  /** Each protocol's own settings, by its id. */
  readonly settings?: { readonly [protocol: string]: JsonObject };
  /** For what only a language model can do, such as agreeing on a new protocol document. Default: none, and that is said. */
  readonly model?: LanguageModel;
  /** Hears what went wrong inside, in an agent or around it; callers are told no more than that something did. */
  readonly onError?: OnError;
  /** Where large parts are kept; without it everything travels inside the message, up to the body limit. */
  readonly artifacts?: LargePartOptions;
  /** Routes of the house that belong to no protocol: a page, an inspector. They speak last. */
  readonly routes?: readonly ExtraRoute[];
  /** Hosts, `name` or `name:port`, to which links in messages may lead whatever their address. */
  readonly followTo?: readonly string[];
  readonly ids?: IdSource;
}

export interface Assembled {
  readonly exchange: Exchange;
  readonly limits: Limits;
  readonly admission: Admission;
  /** Set once the port is known. */
  checkHost: Maybe<HostCheck>;
  /** The address callers use, for links: set once the port is known. */
  url: string;
  /** Where one agent answers, the best first; known once the address is. */
  interfaces(agent: string): readonly Interface[];
  /** Tasks, replies and streams that are not over. */
  underWay(): number;
  close(drainMs: number): Promise<void>;
}

/** Agents, runtime, protocols and guards as one exchange. Opens nothing. `http2`: whoever carries requests to it takes them by HTTP/2 too. */
export function assemble(
  agents: readonly Agent[],
  options: HostOptions,
  reach: AddressClass = "public",
  http2 = false,
): Assembled {
  const { ids = systemIds, telemetry = noTelemetry } = options;
  const trail = options.audit && auditTrail(options.audit, ids);
  const admission = watched(options.admission ?? openAdmission(), trail?.admission);
  checkSigning(options, reach);
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const taskLimits: TaskLimits = { ...DEFAULT_TASK_LIMITS, ...options.taskLimits };
  const pushes = options.push !== undefined && options.push !== false;
  const offered = { push: pushes, pushDelivery: pushes, idempotencyWindowMs: taskLimits.idempotencyKeepMs };
  const hosted = hostedAgents(agents, describeSecurity(admission), offered);
  const store = options.store ?? createMemoryStore({ limits: taskLimits, now: ids.now });
  const large = options.artifacts && createLargeParts(options.artifacts, admission, ids.now, () => assembled.url);
  const served = new Map(
    agents.map((each) => [
      each.name,
      {
        handle: handleOf(each, options, large),
        restartable: each.restartable,
        cancel: each.cancel?.bind(each),
        marks: each.marks?.bind(each),
      },
    ]),
  );
  const push = openPush(options.push, { atOnce: taskLimits.pushesAtOnce, notify: () => door.notify });
  const fetchPart = followLinks(reach, options.followTo);
  const runtime: Runtime = createRuntime({ agents: served, store, ids, limits: taskLimits, fetchPart, push: push.port });
  const layers = stack([telemetry.server(), refuseLoops(limits.hops), limitOpenStreams(limits), ...(options.layers ?? [])]);
  const handler = layers(hostHandler(hosted, runtime.handler));
  for (const agent of agents) {
    agent.bindSelf(handler, large);
    for (const reason of agent.downgrades ?? []) trail?.note("downgrade", { what: "a card", agent: agent.name, reason });
  }

  const host = createHost({
    handler,
    cards: Array.from(hosted.values(), ({ card }) => card),
    signatures: cardSignatures(options.cardKeys ?? []),
    ids,
    limits,
    http2,
    admit: admission,
    publicUrl: options.publicUrl,
    settings: options.settings,
    onFault: options.onError,
    model: options.model,
    records: store.records,
    follow: followUrls(reach, options.followTo),
    onLoss: lossesOf(agents, telemetry),
    sendsCredentialsOn: sendingOn(agents),
    callStarted: (request, call) => telemetry.callStarted(request, call),
  });
  const house = [...(large?.routes ?? []), ...metricsRoute(options, telemetry, admission), ...(options.routes ?? [])];
  const door = front(host, options.protocols ?? registered, house);
  const inner = watched(telemetry.exchange(door.exchange), trail?.exchange);

  const assembled: Assembled = {
    limits,
    admission,
    checkHost: undefined,
    url: options.publicUrl?.replace(/\/$/, "") ?? "",
    exchange(request) {
      const refused = assembled.checkHost?.(request);
      if (refused === undefined) return inner(request);
      trail?.refused(request, refused);
      return errorResponse(403, refused);
    },
    interfaces: (agent) => door.interfaces(agent, assembled.url),
    underWay() {
      const { runningTasks, bareReplies, openStreams } = runtime.stats();
      return runningTasks + bareReplies + openStreams;
    },
    async close(drainMs) {
      await runtime.close(drainMs);
      await push.close();
    },
  };
  return assembled;
}

/** The agent's function with what the host adds to it. */
function handleOf({ handle }: Agent, { onError }: HostOptions, large: Maybe<LargeParts>): AgentFunction {
  const told = onError === undefined ? handle : withErrorReporting(handle, onError);
  return large === undefined ? told : externalizeLargeParts(told, large);
}

/** Nobody hears of losses where no agent cares: most calls then carry no sink. */
function lossesOf(agents: readonly Agent[], { lossReported }: Telemetry): HostParts["onLoss"] {
  const hearing = new Map(
    agents.flatMap((each) => (each.lost === undefined ? [] : [[each.name, each.lost.bind(each)] as const])),
  );
  if (hearing.size === 0 && lossReported === undefined) return undefined;
  return (loss, agent, request) => {
    hearing.get(agent)?.(loss);
    lossReported?.(request, loss);
  };
}

/** Calls carry what callers showed only to agents that send it on. */
function sendingOn(agents: readonly Agent[]): HostParts["sendsCredentialsOn"] {
  const names = new Set(agents.flatMap(({ name, sendsCredentialsOn }) => (sendsCredentialsOn === true ? [name] : [])));
  return names.size === 0 ? undefined : (agent) => names.has(agent);
}

function watched<T>(plain: T, watch: Maybe<(plain: T) => T>): T {
  return watch === undefined ? plain : watch(plain);
}

/** The agents by their names, with the cards this host serves: how to get in and what is told is the host's affair. */
function hostedAgents(
  agents: readonly Agent[],
  security: Security,
  offered: Partial<Capabilities>,
): ReadonlyMap<string, HostedAgent> {
  const byName = new Map<string, HostedAgent>();
  for (const agent of agents) {
    if (byName.has(agent.name)) throw new AgentError("conflict", `two agents are called ${agent.name}`);
    const card: Card = { ...agent.card, security, capabilities: { ...agent.card.capabilities, ...offered } };
    byName.set(agent.name, { agent, card });
  }
  if (byName.size === 0) throw new AgentError("invalid_message", "there is no agent to serve");
  return byName;
}

/** Without an address of our own a card says the one the caller wrote in `Host`: whoever asks would choose what we sign. */
function checkSigning({ cardKeys = [], publicUrl }: HostOptions, reach: AddressClass): void {
  if (cardKeys.length > 0 && publicUrl === undefined && reach !== "loopback")
    throw new AgentError("invalid_message", "signed cards need publicUrl: the address that is signed must be ours", {
      field: "publicUrl",
    });
}

/** What an admission throws; whatever else it may be, nobody was let in. */
const METRICS_STATUS: { readonly [code: string]: number } = { not_found: 404, forbidden: 403, unavailable: 503 };

function metricsRoute({ metrics }: HostOptions, telemetry: Telemetry, admission: Admission): readonly ExtraRoute[] {
  if (metrics === undefined) return [];
  async function exchange(request: HttpRequest): Promise<HttpResponse> {
    try {
      if (metrics === "admitted") await admission(request);
      else if (!request.connection.loopback)
        throw new AgentError("not_found", `nothing answers ${request.method} ${request.path}`);
    } catch (thrown) {
      const error = AgentError.from(thrown);
      return errorResponse(METRICS_STATUS[error.code] ?? 401, error);
    }
    const { contentType, text } = telemetry.metricsPage(request.headers["accept"]);
    return { status: 200, headers: { "content-type": contentType, vary: "accept" }, body: text };
  }
  return [{ route: { method: "GET", path: "/metrics" }, exchange }];
}
