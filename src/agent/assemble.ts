import { AgentError, type Card, type JsonObject, type Layer, type Maybe } from "../envelope/index.js";
import { limitOpenStreams, stack } from "../policies/index.js";
import { protocols as registered } from "../protocols/all.js";
import { front, type HouseRoute } from "../protocols/front.js";
import { createHost } from "../protocols/host.js";
import type { Ids, Protocol } from "../protocols/protocol.js";
import { type AddressClass, type Admission, describeSecurity, type HostCheck, openAdmission } from "../security/index.js";
import {
  createMemoryStore,
  createRuntime,
  DEFAULT_TASK_LIMITS,
  type PushPort,
  type Runtime,
  type Store,
  type TaskLimits,
} from "../tasks/index.js";
import { noTelemetry, PROMETHEUS_CONTENT_TYPE, type Telemetry } from "../telemetry/index.js";
import type { Exchange, Request, Response } from "../transport/exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../transport/limits.js";
import { errorResponse } from "../transport/response.js";
import type { Agent } from "./agent.js";
import { hostHandler } from "./host-handler.js";
import { systemIds } from "./ids.js";
import { type ArtifactOptions, createLargeParts, followLinks, speakingByReference } from "./large-parts.js";

/** What is the same whether we listen ourselves or are mounted in another app. */
export interface HostOptions {
  /** Default: every registered protocol. */
  readonly protocols?: readonly Protocol[];
  /** Who may call. Default: everybody, as the one anonymous owner; then only loopback may be bound. */
  readonly admission?: Admission;
  /** The address callers use, when it is not the one in their `Host` header: behind a proxy, for example. */
  readonly publicUrl?: string;
  readonly store?: Store;
  readonly limits?: Partial<Limits>;
  readonly taskLimits?: Partial<TaskLimits>;
  readonly telemetry?: Telemetry;
  /** Prometheus text at `/metrics`: for loopback callers only, or for everybody who may call. Default: not served. */
  readonly metrics?: "loopback" | "admitted";
  /** Where events go for callers that asked to be told. Without it push is neither offered nor accepted. */
  readonly push?: PushPort;
  /** Policies around the agents, outermost first. */
  readonly layers?: readonly Layer[];
  /** Each protocol's own settings, by its id. */
  readonly settings?: { readonly [protocol: string]: JsonObject };
  /** Where large parts are kept; without it everything travels inside the message, up to the body limit. */
  readonly artifacts?: ArtifactOptions;
  /** Hosts, `name` or `name:port`, to which links in messages may lead whatever their address. */
  readonly followTo?: readonly string[];
  readonly ids?: Ids;
}

export interface Assembled {
  readonly exchange: Exchange;
  readonly limits: Limits;
  readonly admission: Admission;
  /** Set once the port is known. */
  checkHost: Maybe<HostCheck>;
  /** The address callers use, for links: set once the port is known. */
  url: string;
  close(drainMs: number): Promise<void>;
}

/** Agents, runtime, protocols and guards as one exchange. Opens nothing. */
export function assemble(agents: readonly Agent[], options: HostOptions, reach: AddressClass = "public"): Assembled {
  const byName = namedAgents(agents);
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const taskLimits: TaskLimits = { ...DEFAULT_TASK_LIMITS, ...options.taskLimits };
  const { ids = systemIds, telemetry = noTelemetry, admission = openAdmission() } = options;
  const store = options.store ?? createMemoryStore({ limits: taskLimits, now: ids.now });
  const large = options.artifacts && createLargeParts(options.artifacts, admission, ids.now, () => assembled.url);
  const served = new Map(
    agents.map(({ name, handle, restartable }) => [
      name,
      { handle: large ? speakingByReference(handle, large) : handle, restartable },
    ]),
  );
  const fetchPart = followLinks(reach, options.followTo);
  const runtime: Runtime = createRuntime({ agents: served, store, ids, limits: taskLimits, fetchPart, push: options.push });
  const layers = stack([telemetry.server(), limitOpenStreams(limits), ...(options.layers ?? [])]);
  const handler = layers(hostHandler(byName, runtime.handler));
  for (const agent of agents) agent.bindSelf(handler, large);

  const security = describeSecurity(admission);
  const cards: readonly Card[] = agents.map(({ card }) => ({
    ...card,
    security,
    capabilities: { ...card.capabilities, push: options.push !== undefined },
  }));
  const host = createHost({
    handler,
    cards,
    ids,
    limits,
    admit: admission,
    publicUrl: options.publicUrl,
    settings: options.settings,
    extendedCard: (name, caller) => byName.get(name)?.extendedCard(caller),
    began: (request, call) => telemetry.began(request, call),
  });
  const house = [...(large?.routes ?? []), ...metricsRoute(options, telemetry, admission)];
  const door = front(host, options.protocols ?? registered, house);
  const inner = telemetry.exchange(door.exchange);

  const assembled: Assembled = {
    limits,
    admission,
    checkHost: undefined,
    url: options.publicUrl?.replace(/\/$/, "") ?? "",
    exchange(request) {
      const refused = assembled.checkHost?.(request);
      return refused === undefined ? inner(request) : errorResponse(403, refused);
    },
    close: (drainMs) => runtime.close(drainMs),
  };
  return assembled;
}

function namedAgents(agents: readonly Agent[]): ReadonlyMap<string, Agent> {
  const byName = new Map<string, Agent>();
  for (const agent of agents) {
    if (byName.has(agent.name)) throw new AgentError("conflict", `two agents are called ${agent.name}`);
    byName.set(agent.name, agent);
  }
  if (byName.size === 0) throw new AgentError("invalid_message", "there is no agent to serve");
  return byName;
}

function metricsRoute({ metrics }: HostOptions, telemetry: Telemetry, admission: Admission): readonly HouseRoute[] {
  if (metrics === undefined) return [];
  async function exchange(request: Request): Promise<Response> {
    try {
      if (metrics === "admitted") await admission(request);
      else if (!request.connection.loopback)
        throw new AgentError("not_found", `nothing answers ${request.method} ${request.path}`);
    } catch (thrown) {
      const error = AgentError.from(thrown);
      return errorResponse(error.code === "not_found" ? 404 : error.code === "forbidden" ? 403 : 401, error);
    }
    return { status: 200, headers: { "content-type": PROMETHEUS_CONTENT_TYPE }, body: telemetry.metricsText() };
  }
  return [{ route: { method: "GET", path: "/metrics" }, exchange }];
}
