import type { Maybe } from "../envelope/index.js";
import type { HostParts } from "../protocols/host.js";
import type { FrontObserver } from "../protocols/index.js";
import type { AuditTrail } from "../security/index.js";
import type { Telemetry } from "../telemetry/index.js";

/** Reports what a front decides about callers and sessions to the telemetry and to the audit log. */
export function observeFront(
  telemetry: Telemetry,
  trail: Maybe<AuditTrail>,
): FrontObserver & Pick<Required<HostParts>, "onRelayed"> {
  return {
    exchange: (exchange) => trail?.exchange(telemetry.exchange(exchange)) ?? telemetry.exchange(exchange),
    session: (session, protocol) => telemetry.session?.(session, protocol),
    identified: (head, caller) => trail?.admitted(head, caller),
    refused(head, error, caller, protocol) {
      trail?.refused(head, error, caller);
      telemetry.callerRefused?.(head, error, protocol);
    },
    onRelayed(session, facts) {
      telemetry.sessionRelayed?.(session, facts);
      trail?.relayed(session, facts);
    },
  };
}
