import type { Requirement } from "../requirement.js";
import { badInputDuties } from "./requirements/bad-input.js";
import { conversationDuties } from "./requirements/conversations.js";
import { discoveryDuties } from "./requirements/discovery.js";
import { edgeDuties } from "./requirements/edge-cases.js";
import { errorDuties } from "./requirements/error-shapes.js";
import { naturalDuties } from "./requirements/natural-language.js";
import { negotiationDuties } from "./requirements/negotiation.js";
import { onAgora } from "./requirements/probe.js";
import { documentDuties } from "./requirements/protocol-documents.js";
import { receiptDuties } from "./requirements/receipts.js";
import { securityDuties } from "./requirements/security.js";

/** The requirements for Agora servers, cheap ones first. */
export const requirements: readonly Requirement[] = onAgora([
  ...discoveryDuties,
  ...naturalDuties,
  ...documentDuties,
  ...conversationDuties,
  ...negotiationDuties,
  ...errorDuties,
  ...receiptDuties,
  ...securityDuties,
  ...badInputDuties,
  ...edgeDuties,
]);
