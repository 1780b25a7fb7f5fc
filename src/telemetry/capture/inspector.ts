import type { Call, Layer, Loss, Maybe, Via } from "../../envelope/index.js";
import { stack } from "../../policies/index.js";
import type { HttpRequest, Link, Session, SessionMessage } from "../../transport/exchange.js";
import type { Edge } from "../edge.js";
import type { Telemetry } from "../telemetry.js";
import type { CaptureContext } from "./capture-context.js";
import { CAPTURE_LIMITS, type CaptureLimits, type CaptureLog } from "./captured-message.js";
import { InboundCapture } from "./inbound-capture.js";
import { MemoryLog } from "./log.js";
import { OutboundCapture } from "./outbound-capture.js";
import { Spans } from "./spans.js";

/** Options of `createInspector`. */
export interface InspectorOptions {
  /** Overrides of the default limits (`CAPTURE_LIMITS`). */
  readonly limits?: Maybe<Partial<CaptureLimits>>;
  /** The id source. */
  readonly ids: { newId(): string };
  /** The time source. */
  readonly clock: { now(): number };
}

/** Telemetry that also captures messages. */
export interface InspectingTelemetry extends Telemetry {
  /** `via` adds the version and binding of the interface to the edge. */
  wire(edge: Edge, via?: Via): Maybe<Layer>;
  callStarted(from: HttpRequest | SessionMessage, call: Call): void;
  session(session: Session, protocol: string): void;
  lossReported(loss: Loss, call: Call): void;
}

/** Captures every call in and out and keeps the most recent ones. */
export interface Inspector {
  /** Wraps another telemetry for `serve` and `connect`; one inspector can wrap several. */
  telemetry(inner: Telemetry): InspectingTelemetry;
  readonly log: CaptureLog;
  /** Ends every feed. Call it before closing the server, which waits for open responses. */
  close(): void;
}

/** Creates an in-memory log of messages and the telemetry that fills it. */
export function createInspector({ limits: given, ids, clock }: InspectorOptions): Inspector {
  const limits: CaptureLimits = { ...CAPTURE_LIMITS, ...given };
  const log = new MemoryLog(limits, clock.now());
  const context: CaptureContext = {
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
      const inbound = new InboundCapture(context);
      const outbound = new OutboundCapture(context);
      // Innermost: next to the wire, and inside the layer that continues a trace.
      return {
        ...inner,
        wire: (edge, via) => stack([inner.wire(edge), outbound.layer(edge, via)]),
        link: (link: Link, edge: Edge) => outbound.link(inner.link(link, edge)),
        server: () => stack([inner.server(), inbound.layer]),
        exchange: (exchange) => inbound.exchange(inner.exchange(exchange)),
        callStarted(from: HttpRequest | SessionMessage, call: Call) {
          inner.callStarted?.(from, call);
          inbound.callStarted(from, call);
        },
        session(session: Session, protocol: string) {
          inner.session?.(session, protocol);
          inbound.session(session);
        },
        lossReported(loss: Loss, call: Call) {
          inner.lossReported?.(loss, call);
          inbound.lossReported(loss, call);
        },
      };
    },
  };
}
