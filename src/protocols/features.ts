import type { Maybe } from "../envelope/index.js";

/** The six groups of the canonical feature model. */
export const FACETS = {
  interaction: "transport and interaction",
  "long-running": "long-running work and artifacts",
  identity: "identity and confidentiality",
  delivery: "delivery and replay",
  operations: "operation semantics",
  governance: "trust across organisations and governance",
} as const;
export type Facet = keyof typeof FACETS;

/** One thing a protocol can bring, and a module can need. */
export interface Capability {
  readonly id: string;
  readonly facet: Facet;
  /** How people and rationales call it: neither digits nor talk of speed. */
  readonly label: string;
  /** What a module says that needs it. */
  readonly means: string;
  /** A need for it rules out every protocol that cannot carry it at all. */
  readonly hard?: Maybe<boolean>;
}

/** The vocabulary of the model: a requirement is one of these or it is no requirement. */
export const CAPABILITIES = [
  {
    id: "turn-taking",
    facet: "interaction",
    label: "turn-taking dialogue",
    means: "agents work by talking to and fro, with follow-ups and hand-overs",
  },
  {
    id: "light-session",
    facet: "interaction",
    label: "light session",
    means: "one thin lasting connection with hardly any handshake or headers",
  },
  {
    id: "prompt-exchange",
    facet: "interaction",
    label: "prompt exchange of small messages",
    means: "tiny or frequent messages that are worth something only when they arrive at once",
  },
  {
    id: "fan-out",
    facet: "interaction",
    label: "fan-out",
    means: "the same update to many receivers, where one that lags holds up nobody",
  },
  {
    id: "streaming",
    facet: "interaction",
    label: "streaming",
    means: "partial results as they come into being",
    hard: true,
  },
  {
    id: "modality-negotiation",
    facet: "interaction",
    label: "negotiated modalities",
    means: "voice, pictures and video in the exchange, and agreement on what the other side can show",
  },
  {
    id: "back-pressure",
    facet: "interaction",
    label: "back-pressure",
    means: "the receiver holds the sender back; queues stay bounded",
  },
  {
    id: "job-lifecycle",
    facet: "long-running",
    label: "long-running jobs",
    means: "work with a ticket that can be looked up, paused, resumed and cancelled",
    hard: true,
  },
  {
    id: "bulk-transfer",
    facet: "long-running",
    label: "bulk transfer",
    means: "very large objects in pieces, resumable, each piece checked",
  },
  {
    id: "verified-identity",
    facet: "identity",
    label: "verified identity",
    means: "each party proves by itself who it is; impostors are turned away",
    hard: true,
  },
  {
    id: "end-to-end-secrecy",
    facet: "identity",
    label: "end-to-end secrecy",
    means: "nobody between the two ends can read the content",
    hard: true,
  },
  {
    id: "non-repudiation",
    facet: "identity",
    label: "non-repudiation",
    means: "signed and tamper-evident; nobody can deny afterwards what it sent",
    hard: true,
  },
  {
    id: "scoped-consent",
    facet: "identity",
    label: "scoped consent",
    means: "access only as far and as long as the subject agreed; it can be withdrawn",
  },
  {
    id: "enterprise-auth",
    facet: "identity",
    label: "enterprise sign-in",
    means: "ordinary logins, keys and transport encryption within one house",
  },
  {
    id: "idempotency",
    facet: "delivery",
    label: "idempotent requests",
    means: "saying it twice does not do it twice",
  },
  {
    id: "ordering",
    facet: "delivery",
    label: "ordering and replay",
    means: "messages in their order, and again from a given place",
  },
  {
    id: "resource-operations",
    facet: "operations",
    label: "resource operations",
    means: "addressable things that are created, read, changed and deleted by ordinary web requests",
  },
  {
    id: "batch-ingestion",
    facet: "operations",
    label: "batch ingestion",
    means: "piles of records taken in, appended and archived at scale",
  },
  {
    id: "routine-governance",
    facet: "governance",
    label: "governed routine",
    means: "a written procedure in a definite edition that all follow and that can be shown later",
  },
  {
    id: "collective-decision",
    facet: "governance",
    label: "collective decision",
    means: "votes, sign-offs by several and arbitration under fixed rules before something happens",
  },
  {
    id: "protocol-negotiation",
    facet: "governance",
    label: "negotiated protocol",
    means: "the agents work out among themselves how they talk",
  },
  {
    id: "cross-boundary",
    facet: "governance",
    label: "trust across organisations",
    means: "the parties belong to different houses that share no authority",
    hard: true,
  },
  {
    id: "audit-trail",
    facet: "governance",
    label: "audit trail",
    means: "a plain record of what happened",
  },
] as const satisfies readonly Capability[];

export type CapabilityId = (typeof CAPABILITIES)[number]["id"];

/** `native`: by a primitive of its own. `composed`: with layers on top that the protocol leaves to others. */
export type Support = "native" | "composed";

/** What a protocol says of itself where its traits do not already say it. */
export interface FeatureClaims {
  /** As decisions write it. */
  readonly name: string;
  readonly title: string;
  /** What it is made for, as data and as a sentence. A need among these speaks for it. */
  readonly orientation: readonly CapabilityId[];
  readonly madeFor: string;
  /** What it is ill suited for, as data and as a sentence. A need among these speaks against it. */
  readonly lessSuited: readonly CapabilityId[];
  readonly lessSuitedFor: string;
  /** What comes with it whether wanted or not: who avoids that avoids this protocol. */
  readonly inherent: readonly CapabilityId[];
  readonly support: { readonly [id in CapabilityId]?: Support };
  /** One fact per line for a reader who knows none of the protocols; no figures. */
  readonly facts: readonly string[];
}

/** One row of the canonical feature model. */
export interface Features extends FeatureClaims {
  /** As in `protocol_hint`. */
  readonly id: string;
}

/** The six toggles of a link between two agents. */
export const LINK_FEATURES = ["streaming", "long-job", "artifact", "state-sync", "identity", "end-to-end"] as const;
export type LinkFeatureName = (typeof LINK_FEATURES)[number];

/** What of a protocol's own carries each toggle on the wire, in its words. What is not named here it has nothing for. */
export type Primitives = { readonly [name in LinkFeatureName]?: string };
