import type { Json, Maybe, ReplaceOptions, ServeOptions } from "../../src/index.js";
import { DEFAULT_LIMITS } from "../../src/internal.js";
import { type Admission, createReplayGuard, type ReplayGuard } from "../../src/public/auth.js";
import { createResolver } from "../../src/public/identity.js";
import { type CaptureLog, inspectorRoutes } from "../../src/public/inspect.js";
import type { ExtraRoute, HttpRequest } from "../../src/public/protocols.js";
import type { Telemetry } from "../../src/public/telemetry.js";
import type { Console } from "../dashboard/index.js";
import { dashboardRoutes } from "../dashboard/index.js";
import { DEFAULT_HOST, DEFAULT_PORT } from "./addresses.js";
import { listenerInterfaces } from "./interface-names.js";
import type { Observations } from "./observations.js";
import type { PageCaller } from "./page-caller.js";
import { listenerLayers, type PolicyTools } from "./policy-layers.js";
import type { Prepared } from "./prepare.js";
import type { GatewayResources } from "./resources.js";

/** Running parts of the gateway that the server options refer to. */
export interface ServingParts {
  readonly pageCaller: PageCaller;
  readonly telemetry: Telemetry;
  readonly observations: Observations;
  readonly tools: PolicyTools;
  readonly console: Console;
  readonly log: Maybe<CaptureLog>;
  readonly pageToken: string;
  readonly onError: Maybe<(thrown: unknown) => void>;
}

/** Server options that a reload can change. */
export function changingOptions(prepared: Prepared, parts: ServingParts): ReplaceOptions {
  const { config, cardKeys, callerAdmission } = prepared;
  const { document, agents } = config;
  const { settings = {}, metrics, push = true } = document;
  const { pageCaller, telemetry, observations, tools, onError } = parts;
  const policies = new Map(agents.map((agent) => [agent.name, agent.policies]));
  return {
    protocols: listenerInterfaces(document.as),
    admission: pageCaller.admit(callerAdmission.admission),
    gateways: document.auth?.gateways ?? [],
    cardKeys,
    settings: settings as { readonly [protocol: string]: { readonly [name: string]: Json } }, // the schema allows only JSON
    telemetry,
    layers: [observations.layer, ...listenerLayers(policies, tools)],
    push: typeof push === "boolean" ? push : { allow: push.allow ?? [] },
    routes: routesOf(prepared, parts),
    ...(metrics === undefined ? {} : { metrics }),
    ...(onError === undefined ? {} : { onError }),
  };
}

/** Server options that are fixed at start. */
export function fixedOptions(
  { config: { document }, tls }: Prepared,
  { store, artifacts, audit }: GatewayResources,
): ServeOptions {
  const { listen = {}, limits, taskLimits } = document;
  const { publicUrl, trustedProxies } = listen;
  return {
    port: listen.port ?? DEFAULT_PORT,
    host: listen.host ?? DEFAULT_HOST,
    names: listen.names ?? [],
    allowedOrigins: listen.allowOrigins ?? [],
    openToEverybody: listen.openToEverybody ?? false,
    store,
    artifacts: { store: artifacts },
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(trustedProxies === undefined ? {} : { trustedProxies }),
    ...(tls === undefined ? {} : { tls }),
    ...(limits === undefined ? {} : { limits }),
    ...(taskLimits === undefined ? {} : { taskLimits }),
    ...(audit === undefined ? {} : { audit }),
  };
}

/** Routes of the inspector and of the dashboard. */
function routesOf({ config, callerAdmission }: Prepared, { log, console, pageToken }: ServingParts): readonly ExtraRoute[] {
  const { page, listen } = config.document;
  if (log === undefined) return [];
  const admitted = typeof page === "object" && page.look === "admitted";
  const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now });
  const mayLook = admitted ? (request: HttpRequest) => isAdmitted(callerAdmission.admission, request, replay) : undefined;
  const guard = { token: pageToken, publicUrl: listen?.publicUrl, ...(mayLook === undefined ? {} : { mayLook }) };
  return [...inspectorRoutes(log, { authorize: mayLook }), ...(page === false ? [] : dashboardRoutes(console, guard))];
}

const resolver = createResolver();

async function isAdmitted(admission: Admission, request: HttpRequest, replay: ReplayGuard): Promise<boolean> {
  if (request.connection.loopback) return true;
  try {
    const decision = await admission(request, { target: request.target, resolver, replay, now: Date.now });
    if ("complete" in decision) await decision.complete(request.body);
    return true;
  } catch {
    return false;
  }
}
