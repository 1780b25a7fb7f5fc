import type { Requirement } from "../requirement.js";
import { awaitRequirements } from "./requirements/awaiting.js";
import { edgeRequirements } from "./requirements/edge-cases.js";
import { longRunningRequirements } from "./requirements/long-running.js";
import { manifestRequirements } from "./requirements/manifests.js";
import { partRequirements } from "./requirements/parts.js";
import { plainRequirements } from "./requirements/plain.js";
import { onRuns } from "./requirements/probe.js";
import { runRequirements } from "./requirements/runs.js";
import { sessionRequirements } from "./requirements/sessions.js";
import { streamingRequirements } from "./requirements/streaming.js";
import { validationRequirements } from "./requirements/validation.js";

/** The requirements for BeeAI ACP servers, cheap ones first. */
export const requirements: readonly Requirement[] = [
  ...onRuns([
    ...manifestRequirements,
    ...runRequirements,
    ...partRequirements,
    ...longRunningRequirements,
    ...streamingRequirements,
    ...awaitRequirements,
    ...sessionRequirements,
    ...validationRequirements,
    ...edgeRequirements,
  ]),
  ...plainRequirements,
];
