import type { AdminOptions, Json, Maybe, ReplaceOptions, ServeOptions } from "../../src/index.js";
import type { Admission } from "../../src/public/auth.js";
import { type CaptureLog, inspectorRoutes } from "../../src/public/inspect.js";
import type { Telemetry } from "../../src/public/telemetry.js";
import { listenerInterfaces } from "../config/index.js";
import type { Console } from "../dashboard/index.js";
import { dashboardRoutes } from "../dashboard/index.js";
import { DEFAULT_HOST, DEFAULT_PORT } from "./addresses.js";
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
  readonly adminToken: string;
  readonly onError: Maybe<(thrown: unknown) => void>;
}

/** Server options that a reload can change. */
export function changingOptions(prepared: Prepared, parts: ServingParts): ReplaceOptions {
  const { config, cardKeys, callerAdmission, identity } = prepared;
  const { document, agents } = config;
  const { settings = {}, metrics, push = true } = document;
  const { pageCaller, telemetry, observations, tools, onError } = parts;
  const policies = new Map(agents.map((agent) => [agent.name, agent.policies]));
  return {
    protocols: listenerInterfaces(document.as, document.grpc),
    admission: pageCaller.admit(callerAdmission.admission),
    gateways: document.auth?.gateways ?? [],
    tenants: document.auth?.tenants,
    cardKeys,
    identity,
    settings: settings as { readonly [protocol: string]: { readonly [name: string]: Json } }, // the schema allows only JSON
    telemetry,
    ...(tools.notes === undefined ? {} : { notes: tools.notes }),
    layers: [observations.layer, ...listenerLayers(policies, tools)],
    push: typeof push === "boolean" ? push : { allow: push.allow ?? [] },
    ...(metrics === "admitted" ? { metrics } : {}),
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

/** The operator's listener; undefined if it is off, or has nothing to show. */
export function adminOptions(
  { config: { document }, adminTls: tls }: Prepared,
  { log, console, adminToken: token }: ServingParts,
  callers: () => Admission,
): Maybe<AdminOptions> {
  const { page = true, listen, metrics = false, admin = true } = document;
  if (admin === false || (log === undefined && metrics === false && admin === true)) return undefined;
  const { readers, token: _reference, ...where } = admin === true ? { readers: undefined, token: undefined } : admin;
  const publicUrl = where.listener === "callers" ? listen?.publicUrl : where.publicUrl;
  const messages = log === undefined ? [] : inspectorRoutes(log);
  return {
    ...where,
    tls,
    token,
    publicUrl,
    // A reload may replace it.
    admission: readers === "admitted" ? (head, facts) => callers()(head, facts) : undefined,
    routes: log === undefined || !page ? messages : [...messages, ...dashboardRoutes(console, { token, publicUrl })],
  };
}
