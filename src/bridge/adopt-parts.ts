import type { Call, LossSink, Maybe } from "../envelope/index.js";
import type { Clock } from "../policies/index.js";
import type { IdSource } from "../protocols/protocol.js";
import type { Upstream } from "./upstream.js";

/** What an adopting bridge is made of. */
export interface AdoptParts {
  readonly upstream: Upstream;
  /** Names that callers chose, as the peer may see them. */
  veil(owner: string, kind: string, value: string): string;
  /** Hears of everything that is lost on the way. */
  readonly lose: LossSink;
  /** Seals and opens a caller's credential; absent where none goes along. */
  readonly credentials?: Maybe<CredentialSeal>;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Keeps a caller's credential with the task in a form that only gateways with the same secret can read. */
export interface CredentialSeal {
  seal(call: Call): Maybe<string>;
  /** The call with the credential on it; one that has its own keeps it. Throws `unauthenticated` for one that cannot be opened. */
  open(sealed: Maybe<string>, call: Call): Call;
}
