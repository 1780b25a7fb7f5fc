import type { AgentEvent, Maybe } from "../envelope/index.js";

/** An encoded push notification. The sender adds the address, the outbound guard and retries. */
export interface Notice {
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** A received push notification whose sender is not verified yet. */
export interface ReadNotice {
  /** Decodes the event. Throws AgentError if it is malformed. */
  event(): AgentEvent;
  /** The token with which the webhook was registered. */
  readonly token: Maybe<string>;
}
