import type { ServeOptions, Server } from "../../src/index.js";
import {
  type CaptureLimits,
  createInspector,
  type Inspector,
  type InspectorRouteOptions,
  inspectorRoutes,
} from "../../src/telemetry/capture/index.js";
import { noTelemetry } from "../../src/telemetry/index.js";

/** An inspector with the system clock and random ids. */
export function newInspector(limits: Partial<CaptureLimits> = {}): Inspector {
  return createInspector({ limits, ids: { newId: () => crypto.randomUUID() }, clock: { now: () => Date.now() } });
}

export const ADMIN_TOKEN = "the-operator-of-this-test";

/** Options of a server that is inspected, and that serves the inspector: on its admin listener, or to callers by a rule of its own. */
export function inspecting(
  inspector: Inspector,
  options: InspectorRouteOptions = {},
): Pick<ServeOptions, "telemetry" | "routes" | "admin"> {
  const telemetry = inspector.telemetry(noTelemetry);
  const routes = inspectorRoutes(inspector.log, options);
  return options.authorize === undefined ? { telemetry, admin: { token: ADMIN_TOKEN, routes } } : { telemetry, routes };
}

/** Where the inspector of a server is, and what it requires. */
export function inspectorOf({ admin, url }: Server): {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
} {
  return admin === undefined ? { url, headers: {} } : { url: admin.url, headers: { authorization: `Bearer ${admin.token}` } };
}
