import type { Maybe } from "../envelope/index.js";
import { MessageInbox, type Replies } from "../protocols/index.js";
import type { Identity } from "../security/index.js";

/** The inbox of a connection, and how its server is left. */
export interface ReplyInbox {
  readonly inbox: MessageInbox;
  leave(): void;
}

/** With `replies` answers reach the inbox at the server of this process: peers find it by the identity. */
export function replyInbox(
  { replies, identity }: { readonly replies?: Maybe<Replies>; readonly identity?: Maybe<Identity> },
  limit: number,
): ReplyInbox {
  const inbox = new MessageInbox({ limit, address: replies && identity?.did });
  return { inbox, leave: replies?.join(inbox) ?? (() => undefined) };
}
