import type { Json, Maybe, ReplaceOptions, ServeOptions } from "../../src/index.js";
import type { Admission } from "../../src/public/auth.js";
import { type CaptureLog, inspectorRoutes } from "../../src/public/inspect.js";
import type { ExtraRoute, HttpRequest } from "../../src/public/protocols.js";
import type { Telemetry } from "../../src/public/telemetry.js";
import type { Console } from "../dashboard/index.js";
import { dashboardRoutes } from "../dashboard/index.js";
import { DEFAULT_HOST, DEFAULT_PORT } from "./addresses.js";
import { listenerInterfaces } from "./interface-names.js";
import type { Observations } from "./observations.js";
import type { OwnCaller } from "./own-caller.js";
import { frontLayers, type PolicyTools } from "./policy-layers.js";
import type { Prepared } from "./prepare.js";
import type { GatewayResources } from "./resources.js";

/** What serving needs of the gateway beside its configuration. */
export interface ServingParts {
  readonly own: OwnCaller;
  readonly telemetry: Telemetry;
  readonly seen: Observations;
  readonly tools: PolicyTools;
  readonly console: Console;
  readonly log: Maybe<CaptureLog>;
  readonly pageToken: string;
  readonly onError: Maybe<(thrown: unknown) => void>;
}

/** What can change while the port is open. */
export function changingOptions(prepared: Prepared, parts: ServingParts): ReplaceOptions {
  const { config, cardKeys, door } = prepared;
  const { document, agents } = config;
  const { settings = {}, metrics, push = true } = document;
  const { own, telemetry, seen, tools, onError } = parts;
  const policies = new Map(agents.map((agent) => [agent.name, agent.policies]));
  return {
    protocols: listenerInterfaces(document.as),
    admission: own.admitting(door.admission),
    cardKeys,
    settings: settings as { readonly [protocol: string]: { readonly [name: string]: Json } }, // the schema lets only JSON in
    telemetry,
    layers: [seen.layer, ...frontLayers(policies, tools)],
    push: typeof push === "boolean" ? push : { allow: push.allow ?? [] },
    routes: routesOf(prepared, parts),
    ...(metrics === undefined ? {} : { metrics }),
    ...(onError === undefined ? {} : { onError }),
  };
}

/** What the port is made from once. */
export function fixedOptions(
  { config: { document }, tls }: Prepared,
  { store, artifacts, audit }: GatewayResources,
): ServeOptions {
  const { listen = {}, limits, taskLimits } = document;
  const { publicUrl } = listen;
  return {
    port: listen.port ?? DEFAULT_PORT,
    host: listen.host ?? DEFAULT_HOST,
    names: listen.names ?? [],
    allowedOrigins: listen.allowOrigins ?? [],
    openToEverybody: listen.openToEverybody ?? false,
    store,
    artifacts: { store: artifacts },
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(tls === undefined ? {} : { tls }),
    ...(limits === undefined ? {} : { limits }),
    ...(taskLimits === undefined ? {} : { taskLimits }),
    ...(audit === undefined ? {} : { audit }),
  };
}

/** Messages and the page, for whoever may look. */
function routesOf({ config, door }: Prepared, { log, console, pageToken }: ServingParts): readonly ExtraRoute[] {
  const { page, listen } = config.document;
  if (log === undefined) return [];
  const admitted = typeof page === "object" && page.look === "admitted";
  const mayLook = admitted ? (request: HttpRequest) => isAdmitted(door.admission, request) : undefined;
  const guard = { token: pageToken, publicUrl: listen?.publicUrl, ...(mayLook === undefined ? {} : { mayLook }) };
  return [...inspectorRoutes(log, { authorize: mayLook }), ...(page === false ? [] : dashboardRoutes(console, guard))];
}

async function isAdmitted(admission: Admission, request: HttpRequest): Promise<boolean> {
  if (request.connection.loopback) return true;
  try {
    await admission(request);
    return true;
  } catch {
    return false;
  }
}
