import type { FeatureClaims, FeatureSource } from "../features.js";
import { EVERY_CONTEXT_MEMBER, type Traits } from "../traits.js";

/** What A2A supports on the wire. */
export const traits: Traits = {
  streaming: true,
  tasks: true,
  resume: true,
  idempotentSend: true,
  inputTurns: true,
  signed: "none",
  sealed: "none",
  binary: true,
  proofs: true,
  carries: EVERY_CONTEXT_MEMBER,
};

/** Input of the router: what A2A is suited for. */
export const features: FeatureClaims = {
  name: "A2A",
  title: "Agent-to-Agent Protocol",
  orientation: [
    "turn-taking",
    "light-session",
    "prompt-exchange",
    "fan-out",
    "streaming",
    "modality-negotiation",
    "enterprise-auth",
    "mutual-tls",
  ],
  madeFor: "sustained interaction between agents and light turn-taking",
  lessSuited: ["resource-operations", "batch-ingestion", "bulk-transfer"],
  lessSuitedFor: "pipelines of resources and states, and bulk ingestion into archives",
  inherent: [],
  support: {
    "turn-taking": "native",
    "light-session": "native",
    "prompt-exchange": "native",
    "fan-out": "native",
    "modality-negotiation": "native",
    "back-pressure": "composed",
    discovery: "native",
    "job-lifecycle": "composed",
    "bulk-transfer": "composed",
    "enterprise-auth": "native",
    "mutual-tls": "native",
    "scoped-consent": "composed",
    idempotency: "composed",
    ordering: "composed",
    "resource-operations": "composed",
    "batch-ingestion": "composed",
    "routine-governance": "composed",
    "collective-decision": "composed",
    "protocol-negotiation": "composed",
    "audit-trail": "composed",
  },
  facts: [
    "messages and tasks as remote procedure calls over HTTP, with server-sent events",
    "messages of several modalities, and agreement on what the other side can show",
    "an agent card says what an agent can do and where",
    "sign-in as in an enterprise; no end-to-end encryption of its own",
  ],
};

/** What the router reads of A2A. */
export const row: FeatureSource = { id: "a2a", traits, features };
