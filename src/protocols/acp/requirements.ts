import type { Requirement } from "../requirement.js";
import { awaitDuties } from "./requirements/awaiting.js";
import { edgeDuties } from "./requirements/edge-cases.js";
import { longRunningDuties } from "./requirements/long-running.js";
import { manifestDuties } from "./requirements/manifests.js";
import { partDuties } from "./requirements/parts.js";
import { plainRequirements } from "./requirements/plain.js";
import { onRuns } from "./requirements/probe.js";
import { runDuties } from "./requirements/runs.js";
import { sessionDuties } from "./requirements/sessions.js";
import { streamingDuties } from "./requirements/streaming.js";
import { validationDuties } from "./requirements/validation.js";

/** The requirements for BeeAI ACP servers, cheap ones first. */
export const requirements: readonly Requirement[] = [
  ...onRuns([
    ...manifestDuties,
    ...runDuties,
    ...partDuties,
    ...longRunningDuties,
    ...streamingDuties,
    ...awaitDuties,
    ...sessionDuties,
    ...validationDuties,
    ...edgeDuties,
  ]),
  ...plainRequirements,
];
