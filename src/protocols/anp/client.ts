import {
  AgentError,
  type AgentEvent,
  type Call,
  isObject,
  type Operation,
  type Reply,
  raiseFloor,
} from "../../envelope/index.js";
import { isEventStream } from "../../transport/body.js";
import { type HttpResponse, isStream } from "../../transport/exchange.js";
import { blame } from "../../transport/fields.js";
import { badPeer, jsonBody, refuseRedirect } from "../../transport/peer-answer.js";
import { PeerEvents, type Source } from "../../transport/peer-events.js";
import type { Client, ClientContext } from "../protocol.js";
import { tlsProtection } from "../tls-protection.js";
import { SignedRequests } from "./client/signed-requests.js";
import { type DecodeFacts, decodeEvent, encodeOperation, readCalleeMessage, streams, writeRequest } from "./codec.js";
import { errorFromHttp, errorFromRpc } from "./errors.js";
import { sessions } from "./sessions.js";
import { readSettings } from "./settings.js";
import { type Binding, PROTOCOL } from "./wire.js";

/** The client side of one interface of a peer. */
export function connect(context: ClientContext): Client {
  const binding = context.peer.binding as Binding;
  switch (binding) {
    case "JSONRPC":
      return connectRpc(context);
    case "WS":
      return connectSession(context);
    default:
      throw new AgentError("unsupported", `the binding ${binding} is not supported`, { sent: "no" });
  }
}

function connectSession(context: ClientContext): Client {
  const { identity, peer } = context;
  if (sessions === undefined || identity === undefined)
    throw new AgentError("unsupported", "a session needs an identity", { sent: "no" });
  return sessions.connect(context, identity, new URL(peer.url.replace(/^ws/, "http")).searchParams.get("did") ?? undefined);
}

const EVENTS = "text/event-stream, application/json;q=0.9";

/** Koine's methods by signed HTTP requests. */
function connectRpc(context: ClientContext): Client {
  const { peer, limits } = context;
  const requests = new SignedRequests(context, readSettings(context.settings(PROTOCOL)).authentication);

  function handler(operation: Operation, call: Call): Reply {
    const { method, params } = encodeOperation(operation, (loss) => call.reportLoss(loss));
    const id = context.newId();
    const body = writeRequest(id, method, params);
    const facts = factsOf(context, call);
    if (!streams(operation)) return one(body, id, call, facts);
    return new PeerEvents({
      limits,
      open: async (): Promise<Source> => {
        const response = await requests.send({ method: "POST", url: peer.url, body, accept: EVENTS }, call);
        if (response.status < 300 && isEventStream(response.headers["content-type"])) return { chunks: chunksOf(response) };
        return { single: answerIn(response) };
      },
      read: (item) => item,
      decode: (item) => eventIn(item, id, facts),
      withoutTask: "accept",
    });
  }

  async function one(body: string, id: string, call: Call, facts: DecodeFacts): Promise<AgentEvent> {
    const response = await requests.send({ method: "POST", url: peer.url, body }, call);
    return eventIn(answerIn(response), id, facts);
  }

  return {
    handler,
    // The requests are signed if there is an identity. The answers have what TLS gives.
    protection: () => raiseFloor(tlsProtection(peer.url), { signed: context.identity !== undefined }),
    close: async () => undefined,
  };
}

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

function chunksOf({ body }: HttpResponse): AsyncIterator<string | Uint8Array> {
  return isStream(body) ? body[Symbol.asyncIterator]() : once(body ?? "");
}
