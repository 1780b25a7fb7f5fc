import type { Requirement } from "../requirement.js";
import { badInputRequirements } from "./requirements/bad-input.js";
import { conversationRequirements } from "./requirements/conversations.js";
import { discoveryRequirements } from "./requirements/discovery.js";
import { edgeRequirements } from "./requirements/edge-cases.js";
import { errorRequirements } from "./requirements/error-shapes.js";
import { naturalRequirements } from "./requirements/natural-language.js";
import { negotiationRequirements } from "./requirements/negotiation.js";
import { onAgora } from "./requirements/probe.js";
import { documentRequirements } from "./requirements/protocol-documents.js";
import { receiptRequirements } from "./requirements/receipts.js";
import { securityRequirements } from "./requirements/security.js";

/** The requirements for Agora servers, cheap ones first. */
export const requirements: readonly Requirement[] = onAgora([
  ...discoveryRequirements,
  ...naturalRequirements,
  ...documentRequirements,
  ...conversationRequirements,
  ...negotiationRequirements,
  ...errorRequirements,
  ...receiptRequirements,
  ...securityRequirements,
  ...badInputRequirements,
  ...edgeRequirements,
]);
