import type { ServeOptions } from "../../src/index.js";
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

/** Options of a server that is inspected, and that serves the inspector. */
export function inspecting(
  inspector: Inspector,
  options: InspectorRouteOptions = {},
): Pick<ServeOptions, "telemetry" | "routes"> {
  return { telemetry: inspector.telemetry(noTelemetry), routes: inspectorRoutes(inspector.log, options) };
}
