import type { Call, Layer, Loss, Maybe, Via } from "../../envelope/index.js";
import { stack } from "../../policies/index.js";
import type { Link, Request } from "../../transport/exchange.js";
import type { Edge } from "../edge.js";
import type { Telemetry } from "../telemetry.js";
import type { Desk } from "./capture-context.js";
import { SIGHTING_LIMITS, type SightingLimits, type SightingLog } from "./captured-message.js";
import { Arrivals } from "./inbound-capture.js";
import { MemoryLog } from "./log.js";
import { Departures } from "./outbound-capture.js";
import { Spans } from "./spans.js";

export interface InspectorOptions {
  readonly limits?: Maybe<Partial<SightingLimits>>;
  readonly ids: { newId(): string };
  readonly clock: { now(): number };
}

/** A telemetry that also sees messages. */
export interface InspectingTelemetry extends Telemetry {
  /** `via`: the version and binding of the way, which an edge does not say. */
  wire(edge: Edge, via?: Via): Maybe<Layer>;
  /** The serving side could not carry something of an answer to this request. */
  lost(request: Request, loss: Loss): void;
}

/** Keeps what was seen lately of every call in and out. */
export interface Inspector {
  /** Around another telemetry, for `serve` and for `connect`; one inspector may watch many of them. */
  telemetry(inner: Telemetry): InspectingTelemetry;
  readonly log: SightingLog;
  /** Ends every feed. To be called before the server that shows it is closed, which would wait for them. */
  close(): void;
}

export function createInspector({ limits: given, ids, clock }: InspectorOptions): Inspector {
  const limits: SightingLimits = { ...SIGHTING_LIMITS, ...given };
  const log = new MemoryLog(limits, clock.now());
  const desk: Desk = { log, limits, spans: new Spans(ids.newId, limits.sightings), newId: ids.newId, now: () => clock.now() };
  return {
    log,
    close: () => log.close(),
    telemetry: (inner) => {
      const arrivals = new Arrivals(desk);
      const departures = new Departures(desk);
      // Ours are innermost: nearest to the wire, and below whatever continues a trace.
      return {
        ...inner,
        wire: (edge, via) => stack([inner.wire(edge), departures.layer(edge, via)]),
        link: (link: Link, edge: Edge) => departures.link(inner.link(link, edge)),
        server: () => stack([inner.server(), arrivals.layer]),
        exchange: (exchange) => arrivals.exchange(inner.exchange(exchange)),
        began(request: Request, call: Call) {
          inner.began(request, call);
          arrivals.began(request, call);
        },
        lost: (request, loss) => arrivals.lost(request, loss),
      };
    },
  };
}
