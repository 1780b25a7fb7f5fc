import { AgentError, type Maybe } from "../../envelope/index.js";
import { CAPABILITIES, type CapabilityId } from "../../protocols/features.js";
import { capabilityNamed } from "../forms/index.js";
import type { LinkFeature } from "./network.js";
import type { AllowedDowngrade, DecidedModule } from "./plan-input.js";

/** Capabilities that no link may lose silently. */
const SECURITY = ["verified-identity", "end-to-end-secrecy", "non-repudiation"] as const satisfies readonly CapabilityId[];
type Security = (typeof SECURITY)[number];

/** The feature that shows a loss. Signatures are shown under identity. */
const SHOWN_AT: { readonly [capability in Security]: LinkFeature["name"] } = {
  "verified-identity": "identity",
  "end-to-end-secrecy": "end-to-end",
  "non-repudiation": "identity",
};

/** A capability that one end of a link needs and the link does not provide. */
export interface SecurityLoss {
  readonly capability: Security;
  readonly neededBy: string;
  readonly because: string;
}

/** What a link between these two would lose. */
export function securityLosses(src: DecidedModule, dst: DecidedModule): readonly SecurityLoss[] {
  return SECURITY.flatMap((capability) => {
    const missing = whatIsMissing(capability, src, dst);
    if (missing === undefined) return [];
    const needing = [src, dst].find((module) => needs(module, capability));
    return needing === undefined ? [] : [{ capability, neededBy: needing.id, because: missing }];
  });
}

/** A module needs what it requires, what its evidence names, and the native orientation of its protocol. */
function needs({ requires, evidence, row }: DecidedModule, capability: Security): boolean {
  if (requires.includes(capability) || evidence.some((span) => capabilityNamed(span) === capability)) return true;
  return row.support[capability] === "native" && [...row.orientation, ...row.inherent].includes(capability);
}

function whatIsMissing(capability: Security, src: DecidedModule, dst: DecidedModule): Maybe<string> {
  const lacking = [src, dst].find(({ row }) => row.support[capability] !== "native");
  if (lacking !== undefined) return `${lacking.row.name} of ${lacking.id} does not provide it`;
  const bridged = src.row.id !== dst.row.id;
  return bridged && capability === "end-to-end-secrecy" ? "the bridge between them reads what it translates" : undefined;
}

/** Rejects a link that provides less than its ends need, unless the downgrade is allowed explicitly. */
export function checkDowngrade(
  src: string,
  dst: string,
  losses: readonly SecurityLoss[],
  allowed: Maybe<AllowedDowngrade>,
): void {
  if (losses.length === 0 || allowed !== undefined) return;
  const lost = losses.map(({ capability, neededBy, because }) => `${labelOf(capability)}, which ${neededBy} needs: ${because}`);
  throw new AgentError("downgrade_refused", `the link from ${src} to ${dst} would lose ${lost.join("; and ")}`, {
    field: `links.${src}.${dst}`,
    detail: { src, dst, lost: losses.map(({ capability }) => capability).join(", ") },
  });
}

/** The feature, annotated with the accepted downgrade. */
export function withAcceptedLoss(
  feature: LinkFeature,
  losses: readonly SecurityLoss[],
  allowed: Maybe<AllowedDowngrade>,
): LinkFeature {
  const own = losses.filter(({ capability }) => SHOWN_AT[capability] === feature.name);
  if (own.length === 0 || allowed === undefined) return feature;
  const lost = own.map(({ capability, neededBy }) => `${labelOf(capability)} that ${neededBy} needs`).join(" and ");
  const words = allowed.because === undefined ? "" : `: ${allowed.because}`;
  return { ...feature, because: `downgrade accepted, losing ${lost}${words}` };
}

function labelOf(capability: Security): string {
  return CAPABILITIES.find(({ id }) => id === capability)?.label ?? capability;
}
