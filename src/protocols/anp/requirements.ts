import type { Requirement } from "../requirement.js";
import { callRequirements } from "./requirements/calls.js";
import { documentRequirements } from "./requirements/documents.js";
import { handshakeRequirements } from "./requirements/handshakes.js";
import { onAnp } from "./requirements/probe.js";
import { refusalRequirements } from "./requirements/refusals.js";
import { sessionRequirements } from "./requirements/sessions.js";

/** The requirements for ANP servers, cheap ones first. */
export const requirements: readonly Requirement[] = onAnp([
  ...documentRequirements,
  ...sessionRequirements,
  ...handshakeRequirements,
  ...callRequirements,
  ...refusalRequirements,
]);
