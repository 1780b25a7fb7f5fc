import type { Maybe } from "../../envelope/index.js";
import type { LinkFeatureName } from "../../protocols/features.js";

export { LINK_FEATURES, type LinkFeatureName } from "../../protocols/features.js";

/** One feature of a link or node, and the protocol primitive that provides it. */
export interface LinkFeature {
  readonly name: LinkFeatureName;
  readonly on: boolean;
  /** The primitive of the protocol: `message/stream as server-sent events`. Empty if off. */
  readonly primitive: string;
  /** Why it is on or off. */
  readonly because: string;
}

/** One module with its protocol. */
export interface NetworkNode {
  readonly id: string;
  /** As in the decision: `A2A`. */
  readonly protocol: string;
  /** The id of the registered protocol; undefined if none is registered. */
  readonly spokenBy: Maybe<string>;
  readonly features: readonly LinkFeature[];
}

/** A link: two modules and the protocol each of them uses. */
export interface NetworkLink {
  readonly src: string;
  readonly dst: string;
  readonly protocol: readonly [string, string];
  readonly features: readonly LinkFeature[];
}

/** A stateless bridge between two protocols: it maps fields only. */
export interface NetworkBridge {
  readonly src: string;
  readonly dst: string;
  readonly encode: string;
  readonly decode: string;
  readonly stateless: true;
}

/** A planned network: nodes, links, and the bridges between protocols. */
export interface Network {
  readonly nodes: readonly NetworkNode[];
  readonly links: readonly NetworkLink[];
  readonly bridges: readonly NetworkBridge[];
}
