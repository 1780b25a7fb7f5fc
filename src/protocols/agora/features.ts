import type { FeatureClaims, FeatureSource } from "../features.js";
import { EVERY_CONTEXT_MEMBER, type Traits } from "../traits.js";

/** What Agora supports on the wire. */
export const traits: Traits = {
  streaming: false,
  tasks: false,
  resume: false,
  idempotentSend: true,
  inputTurns: true,
  signed: "none",
  sealed: "none",
  binary: false,
  proofs: true,
  carries: EVERY_CONTEXT_MEMBER,
};

/** Input of the router: what Agora is suited for. It has neither identity nor end-to-end encryption of its own. */
export const features: FeatureClaims = {
  name: "Agora",
  title: "Agora meta-protocol",
  orientation: ["routine-governance", "collective-decision", "protocol-negotiation"],
  madeFor: "governing explicit procedures: one concrete routine and edition is chosen, followed and shown later",
  lessSuited: ["prompt-exchange", "bulk-transfer"],
  lessSuitedFor: "exchanges in which no procedure or edition needs to be fixed",
  inherent: ["routine-governance"],
  support: {
    "turn-taking": "native",
    "light-session": "composed",
    "prompt-exchange": "composed",
    "fan-out": "composed",
    "modality-negotiation": "composed",
    "back-pressure": "composed",
    discovery: "composed",
    "job-lifecycle": "composed",
    "bulk-transfer": "composed",
    "enterprise-auth": "composed",
    "mutual-tls": "composed",
    "scoped-consent": "composed",
    idempotency: "composed",
    ordering: "composed",
    "resource-operations": "composed",
    "batch-ingestion": "composed",
    "routine-governance": "native",
    "collective-decision": "native",
    "protocol-negotiation": "native",
    "audit-trail": "composed",
  },
  facts: [
    "a session carries the hash of a plain-text protocol document",
    "agents name the documents they know, and fall back to natural language",
    "routines are reused and change often, also among agents that differ",
    "identity and end-to-end encryption are left to the deployment",
  ],
};

/** What the router reads of Agora. */
export const row: FeatureSource = { id: "agora", traits, features };
