import type { Call, JsonObject, Maybe, Principal } from "../../../envelope/index.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import type { ReadRequest } from "../codec.js";
import type { Conversation } from "./conversations.js";
import type { JsonBodies } from "./routines.js";

/** One message after its document and conversation were resolved. */
export interface IncomingMessage {
  readonly request: HttpRequest;
  readonly caller: Principal;
  readonly call: Call;
  readonly wire: ReadRequest;
  readonly agent: string;
  readonly conversation: Maybe<Conversation>;
}

/** What answers a message. */
export type Answerer =
  /** The agent's own function, or that of the skill whose document the message follows. */
  | { readonly kind: "agent"; readonly intent: Maybe<string>; readonly json: JsonBodies }
  /** A responder that runs without a task: a negotiator, a model or a keyword table. */
  | { readonly kind: "talker"; readonly responder: Responder };

/** Text in, text out, with JSON state in between. */
export interface Responder {
  reply(
    state: Maybe<JsonObject>,
    text: string,
    incoming: IncomingMessage,
  ): Promise<{ readonly state: Maybe<JsonObject>; readonly body: string }>;
}
