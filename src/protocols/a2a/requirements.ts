import type { Requirement } from "../requirement.js";
import { cardRequirements } from "./requirements/card.js";
import { edgeDuties } from "./requirements/edge-cases.js";
import { equivalenceRequirements } from "./requirements/equivalence.js";
import { errorDuties } from "./requirements/error-shapes.js";
import { grpcDuties } from "./requirements/grpc.js";
import { grpcFramingDuties } from "./requirements/grpc-framing.js";
import { rpcDuties } from "./requirements/json-rpc.js";
import { listDuties } from "./requirements/list.js";
import { negotiationDuties } from "./requirements/negotiation.js";
import { onWire } from "./requirements/probe.js";
import { pushDuties } from "./requirements/push.js";
import { deliveryDuties } from "./requirements/push-delivery.js";
import { restDuties } from "./requirements/rest.js";
import { sendDuties } from "./requirements/send.js";
import { streamingDuties } from "./requirements/streaming.js";
import { subscribeDuties } from "./requirements/subscribe.js";
import { taskDuties } from "./requirements/tasks.js";
import { validationDuties } from "./requirements/validation.js";
import { versionDuties } from "./requirements/version.js";
import { WIRES } from "./requirements/wires.js";

/** In execution order, cheap ones first. */
const DUTIES = [
  ...versionDuties,
  ...sendDuties,
  ...taskDuties,
  ...listDuties,
  ...streamingDuties,
  ...subscribeDuties,
  ...pushDuties,
  ...deliveryDuties,
  ...negotiationDuties,
  ...errorDuties,
  ...rpcDuties,
  ...restDuties,
  ...grpcDuties,
  ...grpcFramingDuties,
  ...validationDuties,
  ...edgeDuties,
];

/** Everything A2A demands of a server, as data that runs against any URL. */
export const requirements: readonly Requirement[] = [
  ...cardRequirements,
  ...WIRES.flatMap((wire) => onWire(wire, DUTIES)),
  ...equivalenceRequirements,
];
