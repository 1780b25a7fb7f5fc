import type { ServeOptions } from "../../src/index.js";
import {
  type CaptureLimits,
  createInspector,
  type Inspector,
  type InspectorRouteOptions,
  inspectorRoutes,
} from "../../src/telemetry/capture/index.js";
import { noTelemetry } from "../../src/telemetry/index.js";

/** An inspector with the time and the ids of the system. */
export function newInspector(limits: Partial<CaptureLimits> = {}): Inspector {
  return createInspector({ limits, ids: { newId: () => crypto.randomUUID() }, clock: { now: () => Date.now() } });
}

/** For a server that is inspected, and that answers what its inspector is asked. */
export function inspecting(
  inspector: Inspector,
  options: InspectorRouteOptions = {},
): Pick<ServeOptions, "telemetry" | "routes"> {
  return { telemetry: inspector.telemetry(noTelemetry), routes: inspectorRoutes(inspector.log, options) };
}
