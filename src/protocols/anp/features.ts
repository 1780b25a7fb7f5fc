import type { FeatureClaims, FeatureSource } from "../features.js";
import { EVERY_CONTEXT_MEMBER, type Traits } from "../traits.js";

/** What ANP supports on the wire. */
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

/** Input of the router: what ANP is suited for. */
export const features: FeatureClaims = {
  name: "ANP",
  title: "Agent Network Protocol",
  orientation: ["verified-identity", "end-to-end-secrecy", "non-repudiation", "scoped-consent", "cross-boundary"],
  madeFor: "assured relationships across boundaries: identity, confidentiality, non-repudiation",
  lessSuited: [],
  lessSuitedFor: "benign local traffic where neither verifiable identity nor confidentiality matters",
  inherent: ["verified-identity"],
  support: {
    "turn-taking": "native",
    "light-session": "composed",
    "prompt-exchange": "composed",
    "fan-out": "composed",
    streaming: "native",
    "modality-negotiation": "composed",
    "back-pressure": "composed",
    discovery: "native",
    "job-lifecycle": "composed",
    "bulk-transfer": "composed",
    "verified-identity": "native",
    "end-to-end-secrecy": "native",
    "non-repudiation": "native",
    "scoped-consent": "native",
    "enterprise-auth": "native",
    "mutual-tls": "composed",
    idempotency: "composed",
    ordering: "native",
    "resource-operations": "composed",
    "batch-ingestion": "composed",
    "routine-governance": "composed",
    "collective-decision": "composed",
    "protocol-negotiation": "native",
    "cross-boundary": "native",
    "audit-trail": "composed",
  },
  // Tasks and idempotency keys are Koine's own methods on the described interface.
  complete: true,
  facts: [
    "three layers: identity with end-to-end encryption, a meta-protocol, application protocols",
    "decentralized identifiers; keys are agreed per session and encrypt from end to end",
    "verifiable communication between organisations",
    "descriptions say what an agent can do and which protocols it speaks; many topologies",
  ],
};

/** What the router reads of ANP. */
export const row: FeatureSource = { id: "anp", traits, features };
