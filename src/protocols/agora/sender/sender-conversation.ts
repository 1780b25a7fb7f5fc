import {
  AgentError,
  type Call,
  CancelSource,
  type Envelope,
  type Loss,
  type Maybe,
  NO_CONTEXT,
  textPart,
} from "../../../envelope/index.js";
import { endConversation, post, type ReceivedReply, type Wire } from "../client/post.js";
import { collected } from "../client/task-request.js";
import type { RequestForm } from "../codec.js";
import { encodeRequest } from "../codec.js";

/** Timeout for ending a conversation. The answer is already there, and the peer expires conversations itself. */
const HANG_UP_MS = 5_000;

/** The document of a conversation. */
export type ConversationForm = Pick<RequestForm, "hash" | "sources" | "multiround">;

/** One conversation of a sender with a peer. */
export class SenderConversation {
  readonly #wire: Wire;
  readonly #form: ConversationForm;
  readonly #envelope: Envelope;
  readonly #call: Call;
  #started = false;
  #conversationId: Maybe<string>;
  #last: Maybe<ReceivedReply>;

  constructor(wire: Wire, form: ConversationForm, envelope: Envelope, call: Call) {
    this.#wire = wire;
    this.#form = form;
    this.#envelope = envelope;
    this.#call = call;
  }

  /** The last reply of the peer. Undefined until a message was sent. */
  get last(): Maybe<ReceivedReply> {
    return this.#last;
  }

  /** Whether the peer has received anything to act on. */
  get started(): boolean {
    return this.#started;
  }

  async send(body: string): Promise<string> {
    const first = !this.#started;
    if (!first && this.#conversationId === undefined)
      throw new AgentError("unsupported", "a second message needs a conversation, but the peer opened none", { sent: "maybe" });
    this.#started = true;
    // Losses are the same for every message, so only the first reports them.
    const reportLoss = (loss: Loss): void => (first ? this.#call.reportLoss(loss) : undefined);
    const message = encodeRequest(
      this.#written(body, first),
      { ...this.#form, json: true, whole: this.#wire.isKoine },
      reportLoss,
    );
    const received = await post(this.#wire, this.#conversationId, message, this.#call);
    this.#conversationId ??= this.#form.multiround ? received.reply.conversationId : undefined;
    this.#last = await collected(this.#wire, received, this.#call);
    if (this.#last.error !== undefined) throw this.#last.error;
    return this.#last.reply.body;
  }

  /** Ends the conversation, if there is one. A failure is ignored. */
  async close(): Promise<void> {
    const id = this.#conversationId;
    if (id === undefined) return;
    this.#conversationId = undefined;
    const cancel = new CancelSource();
    const timer = setTimeout(
      () => cancel.cancel(new AgentError("deadline", "the peer did not end the conversation in time")),
      HANG_UP_MS,
    );
    try {
      await endConversation(this.#wire, id, this.#call.derive({ cancel }));
    } catch {
      // The peer expires the conversation itself.
    } finally {
      clearTimeout(timer);
    }
  }

  /** The idempotency key of the task applies to its first message only. */
  #written(body: string, first: boolean): Envelope {
    const { traceId, idempotencyKey, priority, ttlMs, tags } = this.#envelope.context;
    const key = first ? idempotencyKey : undefined;
    return {
      ...this.#envelope,
      id: first ? this.#envelope.id : this.#wire.ids.newId(),
      intent: "",
      content: [textPart(body)],
      context: { ...NO_CONTEXT, traceId, idempotencyKey: key, priority, ttlMs, tags },
    };
  }
}
