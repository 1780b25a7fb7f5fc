import type { Maybe, Metadata } from "./json.js";

/** A skill on an agent card. */
export interface Skill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples?: Maybe<readonly string[]>;
  readonly inputModes?: Maybe<readonly string[]>;
  readonly outputModes?: Maybe<readonly string[]>;
  /**
   * The exact text of the protocol document of this skill. Protocols with such documents identify the skill by the hash of this text,
   * byte for byte.
   */
  readonly document?: Maybe<string>;
  /** Additional security requirements of this skill: alternatives, by the names of the card's schemes. */
  readonly security?: Maybe<Security["anyOf"]>;
}

export interface Extension {
  readonly uri: string;
  readonly description?: Maybe<string>;
  readonly required: boolean;
  readonly params?: Maybe<Metadata>;
}

/** One address of an agent: protocol, version and binding. */
export interface Interface {
  readonly protocol: string;
  readonly version: string;
  readonly binding: string;
  readonly url: string;
  readonly tenant?: Maybe<string>;
}

export interface Capabilities {
  readonly streaming: boolean;
  readonly push: boolean;
  /** Push configurations report their delivery state. */
  readonly pushDelivery?: Maybe<boolean>;
  readonly extended: boolean;
  readonly idempotentSend: boolean;
  /** How long an idempotency key is remembered. */
  readonly idempotencyWindowMs?: Maybe<number>;
  readonly resume: boolean;
  readonly extensions: readonly Extension[];
}

/** Named schemes and the alternatives a caller may choose from: every scheme of one alternative applies. */
export interface Security {
  readonly schemes: { readonly [name: string]: Metadata };
  readonly anyOf: readonly { readonly [scheme: string]: readonly string[] }[];
}

/** The protocol-independent description of an agent, from which each protocol creates its own document. */
export interface Card {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly provider?: Maybe<{ readonly organization: string; readonly url: string }>;
  readonly documentationUrl?: Maybe<string>;
  readonly iconUrl?: Maybe<string>;
  readonly skills: readonly Skill[];
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
  readonly capabilities: Capabilities;
  readonly security: Security;
  readonly interfaces: readonly Interface[];
  /** The document as received, for verifying signatures; absent for a rewritten card. */
  readonly original?: Maybe<{ readonly protocol: string; readonly bytes: Uint8Array; readonly verifiedBy?: Maybe<string> }>;
}
