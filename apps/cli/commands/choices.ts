import type { CardPolicy, Requirement } from "../../../src/index.js";
import * as commandRegistry from "../../../src/protocols/command-registry.js";
import type { AuditEvent, SigningAlgorithm } from "../../../src/public/auth.js";
import type { Ablation, RouterSettings } from "../../../src/router/index.js";

/** Option values that the library defines. They are repeated here because the library is loaded only when a command runs. */

export const AUDIT_EVENTS = [
  "authenticated",
  "refused",
  "probed",
  "relay.opened",
  "relay.ended",
  "key.loaded",
  "key.reloaded",
  "key.rotated",
  "key.unavailable",
  "downgrade",
  "log.opened",
  "log.dropped",
] as const satisfies readonly AuditEvent[];

export const CARD_POLICIES = ["verbatim", "rewrite+resign", "rewrite+strip"] as const satisfies readonly CardPolicy[];

export const REQUIREMENTS = ["encrypted", "signed", "end-to-end", "identity"] as const satisfies readonly Requirement[];

export const SIGNING_ALGORITHMS = ["EdDSA", "ES256", "ES384", "PS256", "RS256"] as const satisfies readonly SigningAlgorithm[];

export const PRIORITY = ["identity", "operations", "interaction"] as const satisfies NonNullable<RouterSettings["priority"]>;

export const ABLATIONS = [
  "locks",
  "priority",
  "narrative",
  "stance",
  "phrases",
  "embeddings",
] as const satisfies readonly Ablation[];

/** Ids of the protocols with commands of their own, `koine <protocol> …`. */
export const PROTOCOLS_WITH_COMMANDS: readonly string[] = Object.keys(commandRegistry);
