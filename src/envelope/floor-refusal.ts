import { AgentError } from "./error.js";
import type { Requirement } from "./floor.js";

/** The refusal of a call that must have more than it would get. */
export function floorRefusal(missing: Requirement, why: string): AgentError {
  return new AgentError("downgrade_refused", `the call must be ${LABELS[missing]}, which ${why}`, {
    sent: "no",
    detail: { requirement: missing },
  });
}

const LABELS: { readonly [name in Requirement]: string } = {
  encrypted: "encrypted",
  signed: "signed",
  "end-to-end": "protected from end to end",
  identity: "with a peer that proves who it is",
};
