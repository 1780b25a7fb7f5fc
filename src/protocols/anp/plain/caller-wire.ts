import {
  AgentError,
  type AgentEvent,
  type Call,
  type Envelope,
  type ErrorCode,
  isErrorCode,
  type JsonObject,
  type Maybe,
  type Operation,
} from "../../../envelope/index.js";
import type { Chunk } from "../../../transport/exchange.js";
import { optional, readText } from "../../../transport/fields.js";
import type { ClientContext } from "../../protocol.js";
import type { CalleeMessage, CallerWire, CallId } from "../../session-wire.js";
import { factsOf } from "../client/answers.js";
import { isAnswer } from "./callee-wire.js";
import { answerTo, decodePlain, decodePlainAnswer, encodePlain, withHops } from "./codec.js";
import { readFrame } from "./frame.js";
import { reportDeliveryLoss } from "./losses.js";

/** A message that waits for its answer. */
interface Waiting {
  readonly id: CallId;
  readonly call: Call;
  /** Undefined: a ping. */
  readonly sent: Maybe<Envelope>;
}

/** Longer texts of a peer are not repeated in errors. */
const MESSAGE_CHARACTERS = 2_000;

/** The plain form in a session, for the side that asks. Answers are found by `request_id`. */
export class PlainCallerWire implements CallerWire {
  readonly #context: ClientContext;
  readonly #provedDid: Maybe<string>;
  readonly #waiting = new Map<string, Waiting>();

  /** `provedDid`: whom the session proved the peer to be. Then it is the source of its messages, whatever they say. */
  constructor(context: ClientContext, provedDid: Maybe<string>) {
    this.#context = context;
    this.#provedDid = provedDid;
  }

  /** The calls of a session that has ended wait no longer. */
  forget(): void {
    this.#waiting.clear();
  }

  request(operation: Operation, call: Call): (id: CallId) => Chunk {
    switch (operation.kind) {
      case "send":
        reportDeliveryLoss(operation, (loss) => call.reportLoss(loss));
        return this.#message(operation.envelope, call);
      case "ping":
        return (id) => {
          const requestId = this.#await(this.#context.newId(), { id, call, sent: undefined });
          return JSON.stringify({ type: "ping", request_id: requestId, timestamp: this.#context.now() / 1_000 });
        };
      default:
        throw new AgentError("unsupported_method", "the plain form has no such operation", { sent: "no" });
    }
  }

  #message(sent: Envelope, call: Call): (id: CallId) => Chunk {
    const message = withHops(
      encodePlain(sent, (loss) => call.reportLoss(loss)),
      call.hops,
    );
    return (id) => JSON.stringify({ ...message, request_id: this.#await(sent.id, { id, call, sent }) });
  }

  /** The id of the message on the wire: its own, unless another one with it waits. */
  #await(ownId: string, waiting: Waiting): string {
    const requestId = this.#waiting.has(ownId) ? this.#context.newId() : ownId;
    this.#waiting.set(requestId, waiting);
    return requestId;
  }

  /** There is no cancel: a late answer is dropped. */
  cancel(id: CallId): undefined {
    for (const [requestId, waiting] of this.#waiting) if (waiting.id === id) this.#waiting.delete(requestId);
  }

  read(frame: Chunk): CalleeMessage {
    const { type, content } = readFrame(frame, this.#context.limits);
    const json: JsonObject = typeof content === "string" ? { payload: { text: content } } : content;
    const requestId = optional(json["request_id"], "request_id", readText);
    const answered = this.#take(requestId);
    if (json["type"] === "error") return { kind: "error", id: answered?.id, error: errorIn(json) };
    if (answered !== undefined) return { kind: "end", id: answered.id, event: () => this.#event(answered, json, requestId) };
    // Late, or a question whether this side is there, which any message answers.
    if (isAnswer(json["type"]) || json["type"] === "ping") return { kind: "pong" };
    if (type === "META" || json["protocol_type"] === "META")
      return {
        kind: "error",
        id: undefined,
        error: new AgentError("unsupported", "the peer asks for a negotiation, which this side does not answer"),
      };
    return { kind: "say", message: () => this.#started(json) };
  }

  /** Answers of some peers name no message: then it is the only one that waits. */
  #take(requestId: Maybe<string>): Maybe<Waiting> {
    const only = this.#waiting.size === 1 ? [...this.#waiting.keys()][0] : undefined;
    const key = requestId ?? only;
    const waiting = key === undefined ? undefined : this.#waiting.get(key);
    if (key !== undefined) this.#waiting.delete(key);
    return waiting;
  }

  #event({ sent, call }: Waiting, json: JsonObject, requestId: Maybe<string>): AgentEvent {
    if (sent === undefined) return { kind: "done" };
    return answerTo(sent, decodePlainAnswer(json, requestId ?? sent.id), this.#facts(call));
  }

  #started(json: JsonObject): Envelope {
    const { envelope } = decodePlain(json, this.#facts(undefined));
    return this.#provedDid === undefined ? envelope : { ...envelope, src: this.#provedDid };
  }

  #facts(call: Maybe<Call>): ReturnType<typeof factsOf> {
    const { limits, peer, now, newId } = this.#context;
    if (call !== undefined) return factsOf(this.#context, call);
    return { partsPerMessage: limits.partsPerMessage, ts: now() / 1_000, src: peer.card.name, dst: "", newId };
  }
}

function errorIn({ error, code }: JsonObject): AgentError {
  const known: ErrorCode = isErrorCode(code) ? code : "internal";
  const text = typeof error === "string" && error !== "" ? error.slice(0, MESSAGE_CHARACTERS) : "the peer reports an error";
  return new AgentError(known, text, { sent: "maybe" });
}
