import type { FeatureClaims, FeatureSource } from "../features.js";
import { EVERY_CONTEXT_MEMBER, type Traits } from "../traits.js";

/** What signed A2A supports on the wire: what A2A does, and signatures of the author of every message. */
export const traits: Traits = {
  streaming: true,
  tasks: true,
  resume: true,
  idempotentSend: true,
  inputTurns: true,
  signed: "end-to-end",
  sealed: "end-to-end",
  binary: true,
  proofs: true,
  carries: EVERY_CONTEXT_MEMBER,
};

/** Input of the router: what SAGE is suited for. It is considered only where it is named. */
export const features: FeatureClaims = {
  name: "SAGE",
  title: "Secure Agent Guarantee Engine",
  orientation: [
    "turn-taking",
    "prompt-exchange",
    "streaming",
    "verified-identity",
    "end-to-end-secrecy",
    "non-repudiation",
    "cross-boundary",
  ],
  madeFor: "conversations of A2A between agents that prove who they are by a registry, on a chain or their own",
  lessSuited: ["resource-operations", "batch-ingestion", "bulk-transfer"],
  lessSuitedFor: "pipelines of resources and states, and traffic in which nobody needs to know who speaks",
  inherent: ["verified-identity"],
  support: {
    "turn-taking": "native",
    "light-session": "native",
    "prompt-exchange": "native",
    "fan-out": "native",
    "modality-negotiation": "native",
    "back-pressure": "composed",
    "job-lifecycle": "composed",
    "bulk-transfer": "composed",
    "enterprise-auth": "composed",
    "scoped-consent": "composed",
    idempotency: "composed",
    ordering: "composed",
    "resource-operations": "composed",
    "batch-ingestion": "composed",
    "routine-governance": "composed",
    "collective-decision": "composed",
    "protocol-negotiation": "composed",
    "cross-boundary": "native",
    "audit-trail": "composed",
  },
  facts: [
    "wraps A2A: the same operations, with every request and answer signed, and every message sealed in a session",
    "the keys of an agent are in a registry, on a chain or embedded, and can be revoked there",
    "a signature over the message itself survives gateways and other protocols on the way",
    "never falls back to unsigned messages",
  ],
};

/** What the router reads of SAGE. */
export const row: FeatureSource = { id: "sage", traits, features };
