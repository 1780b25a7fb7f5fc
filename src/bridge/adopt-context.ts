import type { Call, LossSink, Maybe, RecentMap } from "../envelope/index.js";
import type { Clock } from "../policies/index.js";
import type { IdSource } from "../protocols/protocol.js";
import type { Upstream } from "./upstream.js";
import type { UpstreamShares } from "./upstream-shares.js";

/** What the functions of an adopting bridge share. */
export interface AdoptContext {
  readonly upstream: Upstream;
  readonly shares: UpstreamShares;
  /** Replaces a name chosen by a caller before the upstream sees it. */
  pseudonymize(owner: string, kind: string, value: string): string;
  /** By owner, of those that sent a message last: a pseudonym costs two hashes, and a caller keeps its name. */
  readonly callerNames: RecentMap<CallerName>;
  /** Called for every loss outside a call. */
  readonly reportLoss: LossSink;
  /** Encrypts callers' credentials; absent where none are forwarded. */
  readonly credentials?: Maybe<CredentialSeal>;
  /** Timeout of one attempt, with everything that follows a lost connection. */
  readonly timeoutMs: Maybe<number>;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly random: () => number;
}

/** What a caller calls itself, and what the upstream knows it by. */
export interface CallerName {
  readonly src: string;
  readonly pseudonym: string;
}

/** Stores a caller's credential with the task, encrypted with the secret of the gateway. */
export interface CredentialSeal {
  seal(call: Call): Maybe<string>;
  /** The call with the stored credential, unless it has its own. Throws `unauthenticated` if it cannot be decrypted. */
  open(sealed: Maybe<string>, call: Call): Call;
}
