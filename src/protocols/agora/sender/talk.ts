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
import { collected } from "../client/errand.js";
import { type Heard, hangUp, post, type Wire } from "../client/post.js";
import type { RequestForm } from "../codec.js";
import { encodeRequest } from "../codec.js";

/** How long the end of a conversation may take: the answer is there already, and the peer has a timer of its own. */
const HANG_UP_MS = 5_000;

/** Under which document a talk is held. */
export type TalkForm = Pick<RequestForm, "hash" | "sources" | "multiround">;

/** One conversation of a sender with a peer, from its first message to its end. */
export class Talk {
  readonly #wire: Wire;
  readonly #form: TalkForm;
  readonly #envelope: Envelope;
  readonly #call: Call;
  #begun = false;
  #conversationId: Maybe<string>;
  #last: Maybe<Heard>;

  constructor(wire: Wire, form: TalkForm, envelope: Envelope, call: Call) {
    this.#wire = wire;
    this.#form = form;
    this.#envelope = envelope;
    this.#call = call;
  }

  /** The last reply of the peer. Undefined until a message was sent. */
  get last(): Maybe<Heard> {
    return this.#last;
  }

  /** Whether the peer has got anything to act on. */
  get begun(): boolean {
    return this.#begun;
  }

  async say(body: string): Promise<string> {
    const first = !this.#begun;
    if (!first && this.#conversationId === undefined)
      throw new AgentError("unsupported", "a second message needs a conversation, and this talk has none", { sent: "maybe" });
    this.#begun = true;
    // What is lost with the first message is lost with all of them.
    const lose = (loss: Loss): void => (first ? this.#call.reportLoss(loss) : undefined);
    const message = encodeRequest(this.#written(body, first), { ...this.#form, json: true, whole: this.#wire.ours }, lose);
    const heard = await post(this.#wire, this.#conversationId, message, this.#call);
    this.#conversationId ??= this.#form.multiround ? heard.reply.conversationId : undefined;
    this.#last = await collected(this.#wire, heard, this.#call);
    if (this.#last.error !== undefined) throw this.#last.error;
    return this.#last.reply.body;
  }

  /** Ends the conversation if there is one. That this fails changes no answer. */
  async close(): Promise<void> {
    const id = this.#conversationId;
    if (id === undefined) return;
    this.#conversationId = undefined;
    const cancel = new CancelSource();
    const timer = setTimeout(() => cancel.cancel(new AgentError("deadline", "the peer does not hang up")), HANG_UP_MS);
    try {
      await hangUp(this.#wire, id, this.#call.derive({ cancel }));
    } catch {
      // The peer's own timer ends what we could not.
    } finally {
      clearTimeout(timer);
    }
  }

  /** The task's key guards its first message; further ones, and talks about documents, are messages of their own. */
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
