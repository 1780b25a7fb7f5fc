import type { FeatureClaims, FeatureSource } from "../features.js";
import { EVERY_CONTEXT_MEMBER, type Traits } from "../traits.js";

/** What ACP supports on the wire. */
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
  // A run has an id and a session of its own.
  carries: EVERY_CONTEXT_MEMBER.filter((name) => name !== "sessionId" && name !== "taskId"),
};

/** Input of the router: what ACP is suited for. */
export const features: FeatureClaims = {
  name: "ACP",
  title: "Agent Communication Protocol",
  orientation: ["resource-operations", "batch-ingestion", "idempotency", "back-pressure", "job-lifecycle", "bulk-transfer"],
  madeFor: "structured, addressable operations with clear progress, repeatable at scale",
  lessSuited: ["light-session"],
  lessSuitedFor: "ultra-light conversational turns that want neither resources nor states",
  inherent: ["resource-operations"],
  support: {
    "turn-taking": "composed",
    "light-session": "composed",
    "prompt-exchange": "composed",
    "fan-out": "composed",
    "modality-negotiation": "composed",
    "back-pressure": "native",
    discovery: "native",
    "job-lifecycle": "native",
    "bulk-transfer": "native",
    "enterprise-auth": "native",
    "mutual-tls": "composed",
    "scoped-consent": "composed",
    idempotency: "native",
    ordering: "composed",
    "resource-operations": "native",
    "batch-ingestion": "native",
    "routine-governance": "composed",
    "collective-decision": "composed",
    "protocol-negotiation": "composed",
    "audit-trail": "composed",
  },
  facts: [
    "ordinary web requests on addressable runs, asynchronous first, with streaming",
    "messages of any media type",
    "a manifest says what an agent can do, also without a network",
    "authentication as on the web; no end-to-end encryption of its own",
    "needs hardly any library; wraps services that already exist",
  ],
};

/** What the router reads of ACP. */
export const row: FeatureSource = { id: "acp", traits, features };
