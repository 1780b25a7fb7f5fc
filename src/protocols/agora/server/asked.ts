import type { Call, JsonObject, Maybe, Principal } from "../../../envelope/index.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import type { ReadRequest } from "../codec.js";
import type { Conversation } from "./conversations.js";
import type { JsonBodies } from "./routines.js";

/** One message, after it was found out what it follows and to which conversation it belongs. */
export interface Asked {
  readonly request: HttpRequest;
  readonly caller: Principal;
  readonly call: Call;
  readonly wire: ReadRequest;
  readonly agent: string;
  readonly conversation: Maybe<Conversation>;
}

/** What answers a message. */
export type Answerer =
  /** The agent: by its own function, or by that of the skill whose document the message follows. */
  | { readonly kind: "agent"; readonly intent: Maybe<string>; readonly json: JsonBodies }
  /** A responder that runs without a task: a negotiator, a model or a keyword table. */
  | { readonly kind: "talker"; readonly talker: Talker };

/** Text in, text out, and JSON to remember in between. */
export interface Talker {
  reply(
    state: Maybe<JsonObject>,
    text: string,
    asked: Asked,
  ): Promise<{ readonly state: Maybe<JsonObject>; readonly body: string }>;
}
