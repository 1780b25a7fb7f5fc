import type { Requirement } from "../requirement.js";
import { cardRequirements } from "./requirements/card.js";
import { edgeRequirements } from "./requirements/edge-cases.js";
import { equivalenceRequirements } from "./requirements/equivalence.js";
import { errorRequirements } from "./requirements/error-shapes.js";
import { grpcRequirements } from "./requirements/grpc.js";
import { grpcFramingRequirements } from "./requirements/grpc-framing.js";
import { rpcRequirements } from "./requirements/json-rpc.js";
import { listRequirements } from "./requirements/list.js";
import { negotiationRequirements } from "./requirements/negotiation.js";
import { onWire } from "./requirements/probe.js";
import { pushRequirements } from "./requirements/push.js";
import { deliveryRequirements } from "./requirements/push-delivery.js";
import { restRequirements } from "./requirements/rest.js";
import { sendRequirements } from "./requirements/send.js";
import { streamingRequirements } from "./requirements/streaming.js";
import { subscribeRequirements } from "./requirements/subscribe.js";
import { taskRequirements } from "./requirements/tasks.js";
import { validationRequirements } from "./requirements/validation.js";
import { versionRequirements } from "./requirements/version.js";
import { WIRES } from "./requirements/wires.js";

/** In execution order, cheap ones first. */
const REQUIREMENTS = [
  ...versionRequirements,
  ...sendRequirements,
  ...taskRequirements,
  ...listRequirements,
  ...streamingRequirements,
  ...subscribeRequirements,
  ...pushRequirements,
  ...deliveryRequirements,
  ...negotiationRequirements,
  ...errorRequirements,
  ...rpcRequirements,
  ...restRequirements,
  ...grpcRequirements,
  ...grpcFramingRequirements,
  ...validationRequirements,
  ...edgeRequirements,
];

/** The requirements for A2A servers. */
export const requirements: readonly Requirement[] = [
  ...cardRequirements,
  ...WIRES.flatMap((wire) => onWire(wire, REQUIREMENTS)),
  ...equivalenceRequirements,
];
