import { CancelSource, type Card, type Handler, isPromise, type Maybe, startCall, subjectOf } from "../envelope/index.js";
import type { Limits } from "../transport/limits.js";
import { type Inbox, MessageInbox } from "./inbox.js";
import type { Replies } from "./replies.js";

/** The parts of a host that messages of peers concern. */
interface AgentInboxParts {
  readonly handler: Handler;
  readonly cards: readonly Card[];
  readonly replies?: Maybe<Replies>;
  readonly onFault?: Maybe<(thrown: unknown) => void>;
}

/** Sends messages that peers initiate to the agent. What it answers is sent only if the protocol can: as another message. */
export function agentInbox(
  { handler, cards, replies, onFault }: AgentInboxParts,
  { inboxMessages, inboxMessagesPerSender }: Limits,
): Inbox {
  const running = new Map<string, number>();
  let all = 0;

  /** Undefined: the sender, or all senders together, have as many messages here as they may. */
  function take(owner: string): Maybe<() => void> {
    const sender = subjectOf(owner);
    const own = running.get(sender) ?? 0;
    if (all >= inboxMessages || own >= inboxMessagesPerSender) return undefined;
    all++;
    running.set(sender, own + 1);
    return () => {
      all--;
      const left = (running.get(sender) ?? 1) - 1;
      if (left === 0) running.delete(sender);
      else running.set(sender, left);
    };
  }

  return new MessageInbox({
    limit: inboxMessages,
    replies,
    onMessage(envelope, caller, { call, answered }) {
      const release = take(caller.owner);
      if (release === undefined) return false;
      const named = cards.find(({ name }) => name === envelope.dst) ?? cards[0];
      // The message outlives the request that brought it.
      const own = call?.derive({ cancel: new CancelSource() }) ?? startCall({ agent: named?.name, caller });
      const reply = handler({ kind: "send", envelope, delivery: "answer", task: "auto" }, own);
      Promise.resolve(isPromise(reply) ? reply : undefined)
        .then((answer) => (answer === undefined ? undefined : answered?.(answer)))
        .catch((thrown: unknown) => onFault?.(thrown))
        .finally(release);
      return true;
    },
  });
}
