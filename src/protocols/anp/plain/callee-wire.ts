import { type AgentError, type Maybe, type Principal, textOf, type Via } from "../../../envelope/index.js";
import { DecodeProblem, optional, readText } from "../../../transport/fields.js";
import type { Host } from "../../protocol.js";
import type { CalleeWire, CallerMessage, CallId } from "../../session-wire.js";
import type { DecodeFacts } from "../codec/part.js";
import { agentNamed, decodeFactsOf } from "../server/methods.js";
import { answerMeta, decodePlain, encodePlain, encodePlainAnswer, hopsIn, type ProtocolType, plainAnswerOf } from "./codec.js";
import { type FrameForm, type PlainFrame, readFrame, writeFrame } from "./frame.js";

export interface CalleeParts {
  readonly host: Host;
  readonly caller: Principal;
  readonly via: Via;
  /** Whom the session proved the caller to be: then it is the source of its messages, whatever they say. */
  readonly provedDid?: Maybe<string>;
}

/** How a message asked, which is how it is answered. */
interface Asked {
  readonly form: FrameForm;
  /** As the message named it. */
  readonly type: Maybe<ProtocolType>;
  /** Words alone are answered by words. */
  readonly isBare: boolean;
}

/** The plain form in a session, for the side that answers. One for each session. */
export function plainCalleeWire({ host, caller, via, provedDid }: CalleeParts): CalleeWire {
  const asked = new Map<CallId, Asked>();
  const facts = (): DecodeFacts => decodeFactsOf(host, caller, agentNamed(host, undefined));
  const seconds = (): number => host.now() / 1_000;

  function requestOf(frame: PlainFrame, json: Extract<PlainFrame["content"], object>): CallerMessage {
    const id = optional(json["request_id"], "request_id", readText) ?? host.newId();
    remember(id, { form: frame.form, type: frame.type ?? (json["protocol_type"] as Maybe<ProtocolType>), isBare: false });
    return request(id, hopsIn(json), () => {
      // An invalid kind is refused here, with the id of its message.
      const { envelope } = decodePlain(json, { ...facts(), newId: () => id });
      return provedDid === undefined ? envelope : { ...envelope, src: provedDid };
    });
  }

  function wordsOf({ form, type }: PlainFrame, text: string): CallerMessage {
    const id = host.newId();
    remember(id, { form, type, isBare: true });
    return request(id, 0, () => {
      const { ts, src, dst } = facts();
      return { id, ts, src, dst, intent: "", role: "user", content: [{ kind: "text", text }], context: {}, meta: {} };
    });
  }

  /** A running call keeps its own: one with the same id is refused. */
  function remember(id: CallId, how: Asked): void {
    if (!asked.has(id)) asked.set(id, how);
  }

  function take(id: CallId): Asked {
    const how = asked.get(id) ?? { form: "json", type: undefined, isBare: false };
    asked.delete(id);
    return how;
  }

  return {
    via,
    read(frame) {
      const read = readFrame(frame, host.limits);
      const { form, type, content } = read;
      if (typeof content === "string") return wordsOf(read, content);
      if (content["type"] === "ping") return { kind: "ping", answer: writeFrame(pongTo(content, seconds()), { form, type }) };
      if (isAnswer(content["type"])) throw new DecodeProblem("type", "is that of an answer, and nothing was asked");
      const isMeta = type === "META" || content["protocol_type"] === "META";
      if (!isMeta) return requestOf(read, content);
      const payload = answerMeta("payload" in content ? content : { payload: content });
      return { kind: "ping", answer: writeFrame(metaAnswer(content, payload, seconds()), { form, type }) };
    },
    event(id, event, reportLoss) {
      return this.end(id, event, reportLoss);
    },
    end(id, event, reportLoss) {
      const { form, type, isBare } = take(id);
      if (event === undefined) throw new DecodeProblem("event", "is missing");
      const answer = plainAnswerOf(event);
      const json = encodePlainAnswer({ requestId: String(id), type, ts: seconds() }, answer, reportLoss);
      return writeFrame(isBare ? textOf(answer.parts) : json, { form, type });
    },
    error(id, error) {
      const { form, type, isBare } = id === undefined ? { form: "json" as const, type: undefined, isBare: false } : take(id);
      // Words cannot say that they are an error.
      return writeFrame(plainError(isBare ? undefined : id, error), { form: isBare ? "json" : form, type });
    },
    say: (envelope, reportLoss) => writeFrame(encodePlain(envelope, reportLoss), { form: "json", type: undefined }),
  };
}

function request(id: string, hops: number, envelope: () => ReturnType<typeof decodePlain>["envelope"]): CallerMessage {
  return {
    kind: "request",
    request: {
      id,
      agent: undefined,
      hops,
      parameters: undefined,
      operation: () => ({ kind: "send", envelope: envelope(), delivery: "answer", task: "auto" }),
    },
  };
}

/** The types of answers: `anp_response`, and those that the seeds' server names after its agents. */
export function isAnswer(type: unknown): boolean {
  return type === "error" || type === "pong" || (typeof type === "string" && type.endsWith("_response"));
}

type Json = Extract<PlainFrame["content"], object>;

function pongTo({ request_id, timestamp }: Json, ts: number): Json {
  return { type: "pong", request_id, ping_timestamp: timestamp, pong_timestamp: ts };
}

/** A message without an envelope is answered without one. */
function metaAnswer(asked: Json, payload: Json, ts: number): Json {
  if (!("payload" in asked)) return payload;
  return { type: "anp_response", request_id: asked["request_id"], protocol_type: "META", payload, timestamp: ts };
}

/** The error of the seeds, with Koine's code beside it. */
export function plainError(id: Maybe<CallId>, { code, message }: AgentError): Json {
  return { type: "error", ...(id === undefined ? undefined : { request_id: String(id) }), error: message, code };
}
