import type { Maybe } from "../envelope/index.js";
import type { Traits } from "./traits.js";

/** The six groups of the canonical feature model. */
export const FACETS = {
  interaction: "transport and interaction",
  "long-running": "long-running work and artifacts",
  identity: "identity and confidentiality",
  delivery: "delivery and replay",
  operations: "operation semantics",
  governance: "trust across organisations and governance",
} as const;
/** A group of capabilities. */
export type Facet = keyof typeof FACETS;

/** Something a protocol can provide and a module can require. */
export interface Capability {
  readonly id: string;
  readonly facet: Facet;
  /** The name in rationales. Contains neither digits nor performance claims. */
  readonly label: string;
  /** How a module's description expresses the need. */
  readonly means: string;
  /** If required, protocols without support for it are excluded. */
  readonly hard?: Maybe<boolean>;
  /** A mechanism with a name of its own: read from prose by that name, not by meaning. */
  readonly named?: Maybe<boolean>;
}

/** All capabilities of the feature model. */
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
    id: "discovery",
    facet: "interaction",
    label: "discovery",
    means: "agents find each other, and what each can do, by a published description",
    named: true,
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
    id: "mutual-tls",
    facet: "identity",
    label: "mutual TLS",
    means: "both ends of a connection show a certificate of an authority that the house trusts",
    named: true,
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

/** The id of a capability. */
export type CapabilityId = (typeof CAPABILITIES)[number]["id"];

/** `native`: the protocol has a primitive for it. `composed`: it can be built on top of the protocol. */
export type Support = "native" | "composed";

/** What a protocol declares beyond its traits, as input of the router. */
export interface FeatureClaims {
  /** The name as written in decisions. */
  readonly name: string;
  readonly title: string;
  /** The capabilities it is designed for, as data and as a sentence. A need for one of them favours the protocol. */
  readonly orientation: readonly CapabilityId[];
  readonly madeFor: string;
  /** The capabilities it is less suited for, as data and as a sentence. A need for one of them disfavours the protocol. */
  readonly lessSuited: readonly CapabilityId[];
  readonly lessSuitedFor: string;
  /** Capabilities that cannot be turned off. A module that excludes one of them excludes the protocol. */
  readonly inherent: readonly CapabilityId[];
  readonly support: { readonly [id in CapabilityId]?: Support };
  /** Facts for a reader who does not know the protocol, one sentence each, without figures. */
  readonly facts: readonly string[];
  /** `support` is all: traits that Koine adds to the protocol do not count. Default: traits count as native support. */
  readonly complete?: Maybe<boolean>;
}

/** What a row of the feature model is made from. Plain data, so that the router loads no protocol. */
export interface FeatureSource {
  readonly id: string;
  readonly traits: Traits;
  readonly features?: Maybe<FeatureClaims>;
}

/** One row of the canonical feature model. */
export interface Features extends FeatureClaims {
  /** As in `protocol_hint`. */
  readonly id: string;
}

/** The optional features of a link between two agents. */
export const LINK_FEATURES = ["streaming", "long-job", "artifact", "state-sync", "identity", "end-to-end"] as const;
/** An optional feature of a link between two agents. */
export type LinkFeatureName = (typeof LINK_FEATURES)[number];

/** The protocol primitive that implements each link feature. Features without an entry are not supported. */
export type Primitives = { readonly [name in LinkFeatureName]?: string };
