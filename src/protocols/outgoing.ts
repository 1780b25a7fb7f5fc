import type { Call, Floor, Maybe } from "../envelope/index.js";
import type { AddressClass } from "../security/index.js";
import type { Link } from "../transport/exchange.js";

/** For whom a server sends requests of its own. */
export interface OutgoingStart {
  /** The owner whose message led to it: an owner has a share of the requests. */
  readonly owner: string;
  /** The class of the address of the document that names the peer: the peer may not be at a more private one. */
  readonly from: AddressClass;
  /** The security that the requests must keep: that of the message which they answer. Default: none. */
  readonly floor?: Maybe<Partial<Floor>>;
}

/**
 * Runs one exchange with a peer that a document names. The link dials addresses that the outbound guard checked and follows no redirects;
 * the call ends with the time limit. Waits for its turn. Throws `forbidden`, `downgrade_refused`, `overloaded`, and what `run` throws.
 */
export type Outgoing = <T>(start: OutgoingStart, run: (link: Link, call: Call) => Promise<T>) => Promise<T>;
