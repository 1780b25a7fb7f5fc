import {
  type Admitted,
  AgentError,
  ARRIVED_OVER_TLS,
  type Floor,
  firstMissing,
  type Maybe,
  NO_FLOOR,
  type Principal,
  type Requirement,
  raiseFloor,
} from "../envelope/index.js";
import type { RequestHead } from "../transport/exchange.js";
import { IN_PROCESS } from "../transport/request.js";
import type { CallBegin } from "./protocol.js";

/** The floor of a call: how it arrived, what was proved, and what its agent requires. Calls within the process raise nothing. */
export function arrivalFloor(head: RequestHead, proved: Maybe<Partial<Floor>>, required: Maybe<Floor>): Floor {
  const { connection } = head;
  let floor = connection.secure && connection !== IN_PROCESS ? ARRIVED_OVER_TLS : NO_FLOOR;
  const admitted = admittedOf(head)?.proved;
  if (admitted !== undefined) floor = raiseFloor(floor, admitted);
  if (proved !== undefined) floor = raiseFloor(floor, proved);
  return required === undefined ? floor : raiseFloor(floor, required);
}

/** What a caller does not bring of the security that the agent requires. */
export function missingOnArrival(
  head: RequestHead,
  { caller, proved, sealedForHost = false }: Pick<CallBegin, "caller" | "proved" | "sealedForHost">,
  required: Floor,
): Maybe<Requirement> {
  const { secure, loopback } = head.connection;
  const all = raiseFloor(raiseFloor(NO_FLOOR, admittedOf(head)?.proved ?? NO_FLOOR), proved ?? NO_FLOOR);
  return firstMissing(required, {
    ...all,
    // What stays on this host crosses no wire.
    encrypted: all.encrypted || secure || loopback,
    endToEnd: all.endToEnd || sealedForHost,
    identity: all.identity || isProven(caller),
  });
}

/** The refusal of a caller that does not bring it. */
export function arrivalRefusal(missing: Requirement): AgentError {
  return new AgentError("downgrade_refused", `this agent accepts only calls that ${CALLS[missing]}`, {
    detail: { requirement: missing },
  });
}

const CALLS: { readonly [name in Requirement]: string } = {
  encrypted: "are encrypted: call it over TLS",
  signed: "are signed",
  "end-to-end": "are protected from end to end",
  identity: "prove who the caller is: by a client certificate or a DID",
};

/** A bearer token or a key proves only that the caller knows it. */
function isProven({ scheme }: Principal): boolean {
  return scheme === "mtls" || scheme === "did" || scheme === "self";
}

function admittedOf({ admitted }: RequestHead): Maybe<Admitted> {
  return admitted instanceof Promise ? undefined : admitted;
}
