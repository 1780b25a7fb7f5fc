import { AgentError, type AgentEvent, type Call, isObject } from "../../../envelope/index.js";
import { type HttpResponse, isStream } from "../../../transport/exchange.js";
import { blame } from "../../../transport/fields.js";
import { badPeer, jsonBody, refuseRedirect } from "../../../transport/peer-answer.js";
import type { ClientContext } from "../../protocol.js";
import { type DecodeFacts, decodeEvent, readCalleeMessage } from "../codec.js";
import { errorFromHttp, errorFromRpc } from "../errors.js";

/** What a decoder needs to know of an answer. */
export function factsOf({ limits, peer, now, newId }: ClientContext, call: Call): DecodeFacts {
  return { partsPerMessage: limits.partsPerMessage, ts: now() / 1_000, src: peer.card.name, dst: call.caller.id, newId };
}

/** The event of a message of the peer. Throws the error of the peer. */
export function eventIn(item: unknown, id: string, facts: DecodeFacts): AgentEvent {
  try {
    const message = readCalleeMessage(item);
    if (message.kind === "error") throw errorFromRpc(message.error);
    if (message.kind === "say" || message.id !== id)
      throw new AgentError("bad_peer", "the peer answered another request", { sent: "maybe" });
    if (message.event === undefined) throw new AgentError("bad_peer", "the peer answered with nothing", { sent: "maybe" });
    return decodeEvent(message.event, facts);
  } catch (thrown) {
    throw blame(thrown, "bad_peer");
  }
}

/** The JSON of an answer. Throws the error of an unsuccessful one. */
export function answerIn(response: HttpResponse): unknown {
  refuseRedirect(response);
  if (response.status >= 300) {
    let body: unknown;
    try {
      body = jsonBody(response);
    } catch {
      // Not JSON: the HTTP status alone says what is wrong.
    }
    throw errorFromHttp(body, response.status, response.headers);
  }
  const body = jsonBody(response);
  if (isObject(body)) return body;
  throw badPeer(response, body === undefined ? "the answer is empty" : "the answer is not a JSON object");
}

/** A response that is already complete has one chunk. */
async function* once(body: string | Uint8Array): AsyncGenerator<string | Uint8Array, void, void> {
  yield body;
}

export function chunksOf({ body }: HttpResponse): AsyncIterator<string | Uint8Array> {
  return isStream(body) ? body[Symbol.asyncIterator]() : once(body ?? "");
}
