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

/** What every request of a client half needs. */
export interface Wire {
  readonly link: Link;
  readonly peer: Peer;
  readonly ids: IdSource;
  /** The peer is one of ours: it reads what stands beside the body, and gives receipts. */
  readonly ours: boolean;
}

/** What a peer said. An error may leave the conversation alive, and may tell of work, so both are given. */
export interface Heard {
  readonly reply: ReadReply;
  readonly error: Maybe<AgentError>;
}

/** One message: into a conversation, or as the first of one. Throws where the peer gave no reply of this protocol. */
export async function post(wire: Wire, conversationId: Maybe<string>, message: WireRequest, call: Call): Promise<Heard> {
  const { url: peerUrl } = wire.peer;
  const url = conversationId === undefined ? entryOf(peerUrl) : conversationAt(peerUrl, conversationId);
  const headers = { ...headersOf(call), "content-type": "application/json" };
  const body = JSON.stringify(message);
  return heardIn(await wire.link.exchange(makeRequest({ method: "POST", url, headers, body, cancel: call.cancel })));
}

/** Ends a conversation; that there is none is no error. */
export async function hangUp({ link, peer }: Wire, conversationId: string, call: Call): Promise<void> {
  const url = conversationAt(peer.url, conversationId);
  const response = await link.exchange(makeRequest({ method: "DELETE", url, headers: headersOf(call), cancel: call.cancel }));
  const { error } = heardIn(response);
  if (error !== undefined && error.code !== "session_expired") throw error;
}

function headersOf(call: Call): HttpHeaders {
  const headers: Record<string, Maybe<string>> = { accept: "application/json" };
  addCallHeaders(headers, call);
  return headers;
}

function heardIn(response: HttpResponse): Heard {
  refuseRedirect(response);
  const { status } = response;
  const reply = replyIn(response);
  if (reply.status === "success") {
    if (status !== 200) throw badPeer(response, "it says success all the same");
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
    // A page instead of a reply, as Flask writes it: the status is all there is.
    const code = codeOfStatus(response.status) ?? "bad_peer";
    throw new AgentError(code, `the peer answered with HTTP status ${response.status}`, { ...factsOf(response), cause: error });
  }
}

function factsOf({ status, headers }: HttpResponse): ErrorFacts {
  const retryAfterMs = readRetryAfter(headers);
  return { status, sent: "maybe", ...(retryAfterMs === undefined ? undefined : { retryAfterMs }) };
}
