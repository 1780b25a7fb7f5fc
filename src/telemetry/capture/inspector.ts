import type { Call, Layer, Loss, Maybe, Via } from "../../envelope/index.js";
import { stack } from "../../policies/index.js";
import type { HttpRequest, Link } from "../../transport/exchange.js";
import type { Edge } from "../edge.js";
import type { Telemetry } from "../telemetry.js";
import type { CaptureContext } from "./capture-context.js";
import { CAPTURE_LIMITS, type CaptureLimits, type CaptureLog } from "./captured-message.js";
import { InboundCapture } from "./inbound-capture.js";
import { MemoryLog } from "./log.js";
import { OutboundCapture } from "./outbound-capture.js";
import { Spans } from "./spans.js";

export interface InspectorOptions {
  readonly limits?: Maybe<Partial<CaptureLimits>>;
  readonly ids: { newId(): string };
  readonly clock: { now(): number };
}

/** A telemetry that also sees messages. */
export interface InspectingTelemetry extends Telemetry {
  /** `via`: the version and binding of the way, which an edge does not say. */
  wire(edge: Edge, via?: Via): Maybe<Layer>;
  /** The serving side could not carry something of an answer to this request. */
  lossReported(request: HttpRequest, loss: Loss): void;
}

/** Keeps what was seen lately of every call in and out. */
export interface Inspector {
  /** Around another telemetry, for `serve` and for `connect`; one inspector may watch many of them. */
  telemetry(inner: Telemetry): InspectingTelemetry;
  readonly log: CaptureLog;
  /** Ends every feed. To be called before the server that shows it is closed, which would wait for them. */
  close(): void;
}

export function createInspector({ limits: given, ids, clock }: InspectorOptions): Inspector {
  const limits: CaptureLimits = { ...CAPTURE_LIMITS, ...given };
  const log = new MemoryLog(limits, clock.now());
  const desk: CaptureContext = {
    log,
    limits,
    spans: new Spans(ids.newId, limits.sightings),
    newId: ids.newId,
    now: () => clock.now(),
  };
  return {
    log,
    close: () => log.close(),
    telemetry: (inner) => {
      const arrivals = new InboundCapture(desk);
      const departures = new OutboundCapture(desk);
      // Ours are innermost: nearest to the wire, and below whatever continues a trace.
      return {
        ...inner,
        wire: (edge, via) => stack([inner.wire(edge), departures.layer(edge, via)]),
        link: (link: Link, edge: Edge) => departures.link(inner.link(link, edge)),
        server: () => stack([inner.server(), arrivals.layer]),
        exchange: (exchange) => arrivals.exchange(inner.exchange(exchange)),
        callStarted(request: HttpRequest, call: Call) {
          inner.callStarted(request, call);
          arrivals.callStarted(request, call);
        },
        lossReported: (request, loss) => arrivals.lost(request, loss),
      };
    },
  };
}
