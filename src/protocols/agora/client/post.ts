import { AgentError, type Call, type ErrorFacts, type Maybe } from "../../../envelope/index.js";
import { addCallHeaders } from "../../../transport/call-headers.js";
import type { HttpHeaders, HttpResponse, Link } from "../../../transport/exchange.js";
import { blame } from "../../../transport/fields.js";
import { badPeer, jsonBody, refuseRedirect } from "../../../transport/peer-answer.js";
import { makeRequest } from "../../../transport/request.js";
import { readRetryAfter } from "../../../transport/retry-after.js";
import type { IdSource, Peer } from "../../protocol.js";
import { type ReadReply, readReply } from "../codec.js";
import { codeOfStatus, decodeErrorReply } from "../errors.js";
import type { WireRequest } from "../wire.js";
import { conversationAt, entryOf } from "./addresses.js";

/** What every client request needs. */
export interface Wire {
  readonly link: Link;
  readonly peer: Peer;
  readonly ids: IdSource;
  /** The peer runs Koine: it reads Koine metadata and issues receipts. */
  readonly isKoine: boolean;
  /** The peer has the seed's plain form only. */
  readonly isPlain: boolean;
}

/** A reply of the peer. An error reply may keep the conversation open and may name a task. */
export interface ReceivedReply {
  readonly reply: ReadReply;
  readonly error: Maybe<AgentError>;
}

/** Sends one message, into a conversation or as the first of one. Throws if the response is not an Agora reply. */
export async function post(wire: Wire, conversationId: Maybe<string>, message: WireRequest, call: Call): Promise<ReceivedReply> {
  const { url: peerUrl } = wire.peer;
  const url = conversationId === undefined ? entryOf(peerUrl) : conversationAt(peerUrl, conversationId);
  const headers = { ...headersOf(call), "content-type": "application/json" };
  const body = JSON.stringify(message);
  return receivedFrom(await wire.link.exchange(makeRequest({ method: "POST", url, headers, body, call })));
}

/** Ends a conversation. An unknown conversation is not an error. */
export async function endConversation({ link, peer }: Wire, conversationId: string, call: Call): Promise<void> {
  const url = conversationAt(peer.url, conversationId);
  const response = await link.exchange(makeRequest({ method: "DELETE", url, headers: headersOf(call), call }));
  const { error } = receivedFrom(response);
  if (error !== undefined && error.code !== "session_expired") throw error;
}

function headersOf(call: Call): HttpHeaders {
  const headers: Record<string, Maybe<string>> = { accept: "application/json" };
  addCallHeaders(headers, call);
  return headers;
}

function receivedFrom(response: HttpResponse): ReceivedReply {
  refuseRedirect(response);
  const { status } = response;
  const reply = replyIn(response);
  if (reply.status === "success") {
    if (status !== 200) throw badPeer(response, "but the reply reports success");
    return { reply, error: undefined };
  }
  return { reply, error: decodeErrorReply(reply, factsOf(response)) };
}

function replyIn(response: HttpResponse): ReadReply {
  try {
    return readReply(jsonBody(response));
  } catch (thrown) {
    const error = blame(thrown, "bad_peer");
    if (response.status === 200) throw error;
    // An HTML page instead of a reply, as Flask writes it: only the status is usable.
    const code = codeOfStatus(response.status) ?? "bad_peer";
    throw new AgentError(code, `the peer answered with HTTP status ${response.status}`, { ...factsOf(response), cause: error });
  }
}

function factsOf({ status, headers }: HttpResponse): ErrorFacts {
  const retryAfterMs = readRetryAfter(headers);
  return { status, sent: "maybe", ...(retryAfterMs === undefined ? undefined : { retryAfterMs }) };
}
