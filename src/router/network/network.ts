import type { Maybe } from "../../envelope/index.js";
import type { LinkFeatureName } from "../../protocols/features.js";

export { LINK_FEATURES, type LinkFeatureName } from "../../protocols/features.js";

/** One toggle of one link or node, and what carries it on the wire. */
export interface LinkFeature {
  readonly name: LinkFeatureName;
  readonly on: boolean;
  /** The protocol's own means: `message/stream as server-sent events`. Empty where it is off. */
  readonly primitive: string;
  /** Why it is on, or what is missing. */
  readonly because: string;
}

/** One module with its protocol. */
export interface NetworkNode {
  readonly id: string;
  /** As the decision says it: `A2A`. */
  readonly protocol: string;
  /** The id of the registered protocol that speaks it; undefined where none does yet. */
  readonly spokenBy: Maybe<string>;
  readonly features: readonly LinkFeature[];
}

export interface NetworkLink {
  readonly src: string;
  readonly dst: string;
  readonly protocol: readonly [string, string];
  readonly features: readonly LinkFeature[];
}

/** Between two protocols: it only maps fields, and keeps nothing. */
export interface NetworkBridge {
  readonly src: string;
  readonly dst: string;
  readonly encode: string;
  readonly decode: string;
  readonly stateless: true;
}

export interface Network {
  readonly nodes: readonly NetworkNode[];
  readonly links: readonly NetworkLink[];
  readonly bridges: readonly NetworkBridge[];
}
