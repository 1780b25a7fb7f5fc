import type { Maybe, Task } from "../../../envelope/index.js";
import { SageError } from "../errors.js";
import type { Message, MessageResponse, ResponseEvent } from "./message.js";
import type { CallOptions, MessageProtocol, TaskOptions } from "./message-protocol.js";
import type { DowngradeOpening, DowngradeReason } from "./policy.js";

/** A message that was sent without SAGE, though SAGE was asked for. */
export interface Downgrade {
  /** ISO 8601. */
  readonly at: string;
  readonly messageId: string;
  /** The agent, as the exception names it. */
  readonly peer: string;
  readonly reason: DowngradeReason;
}

/** Those that are shown; all are counted, and in the audit log. */
const MAX_RECENT = 100;

interface Permission {
  readonly peer: string;
  readonly reason: DowngradeReason;
  readonly opening: Maybe<DowngradeOpening>;
  readonly now: () => number;
}

/** Reports every message that is sent by an exception. */
export class Downgrades {
  readonly #recent: Downgrade[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get recent(): readonly Downgrade[] {
    return this.#recent;
  }

  /** The protocol, for messages that are sent by an exception: each is reported before it is sent. */
  over(inner: MessageProtocol, permission: Permission): MessageProtocol {
    return new DowngradedProtocol(inner, permission.reason, ({ messageId }) => this.#report(messageId, permission));
  }

  #report(messageId: string, { peer, reason, opening, now }: Permission): void {
    const at = new Date(now()).toISOString();
    this.#count++;
    this.#recent.unshift({ at, messageId, peer, reason });
    this.#recent.length = Math.min(this.#recent.length, MAX_RECENT);
    const because = `${reason}; opened until ${opening?.until}: ${opening?.because}`;
    opening?.audit.record({
      at,
      event: "downgrade",
      who: "self",
      what: "a message without: signed, end-to-end",
      agent: peer,
      reason: because,
    });
    opening?.notes?.({
      ...{ kind: "floor", outcome: "lowered", requirement: "signed", because },
      ...{ traceId: undefined, destination: peer, protocol: undefined },
    });
  }
}

/** Sends without SAGE and says so in the answer. */
class DowngradedProtocol implements MessageProtocol {
  readonly name: string;
  readonly version: string;
  readonly requiresSecurity = false;
  readonly #inner: MessageProtocol;
  readonly #reason: DowngradeReason;
  readonly #report: (message: Message) => void;

  constructor(inner: MessageProtocol, reason: DowngradeReason, report: (message: Message) => void) {
    this.name = inner.name;
    this.version = inner.version;
    this.#inner = inner;
    this.#reason = reason;
    this.#report = report;
  }

  async sendMessage(message: Message, options: CallOptions = {}): Promise<MessageResponse> {
    const response = await this.#inner.sendMessage(this.#reported(message, options), { signal: options.signal });
    return { ...response, security: { protected: false, reason: this.#reason } };
  }

  streamMessage(message: Message, options: CallOptions = {}): AsyncIterable<ResponseEvent> {
    return this.#inner.streamMessage(this.#reported(message, options), { signal: options.signal });
  }

  getTask(taskId: string, options?: TaskOptions): Promise<Task> {
    return this.#inner.getTask(taskId, options);
  }

  cancelTask(taskId: string, options?: TaskOptions): Promise<Task> {
    return this.#inner.cancelTask(taskId, options);
  }

  /** What asks for SAGE is taken away here, and nowhere else. */
  #reported(message: Message, { session }: CallOptions): Message {
    if (session !== undefined)
      throw new SageError("policy_denied", "the message is to be sent in a session, and not without one", { sent: "no" });
    this.#report(message);
    const { security: _security, recipientDid: _did, ...plain } = message;
    return plain;
  }
}
