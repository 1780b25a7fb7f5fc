import type { Floor, Head, Maybe, Principal, Via } from "../envelope/index.js";

/** What a protocol knows about a call when it begins. */
export interface CallBegin {
  readonly caller: Principal;
  readonly agent: string;
  readonly via: Via;
  readonly parameters?: Maybe<Head>;
  /** When the caller stops waiting, on the host's clock. */
  readonly deadline?: Maybe<number>;
  /** What the protocol verified beyond authentication: a sealed message, a proof. */
  readonly proved?: Maybe<Partial<Floor>>;
  /** The caller sealed it for this host: protected from end to end here, which asks nothing of further hops. */
  readonly sealedForHost?: Maybe<boolean>;
}
