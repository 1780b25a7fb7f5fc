import {
  AgentError,
  type AgentEvent,
  type Floor,
  floorOf,
  type Handler,
  isPromise,
  type JsonObject,
  type Maybe,
  type Principal,
} from "../../src/envelope/index.js";
import { callerError } from "../../src/protocols/host.js";
import type { Host, Route, Served } from "../../src/protocols/index.js";
import type { ProvenPeer } from "../../src/security/index.js";
import type { HttpRequest, HttpResponse, Session } from "../../src/transport/exchange.js";
import { readObject, readText } from "../../src/transport/fields.js";
import { errorResponse, jsonResponse } from "../../src/transport/response.js";
import { decodeOperation, encodeCard, encodeEvent, isOp } from "../session-toy/codec.js";
import { encodeError } from "../session-toy/errors.js";
import { provingRoutes, serve as serveSessions } from "../session-toy/server.js";
import { changeEvent, changeOperation, packMessage, unpackMessage } from "./carried.js";
import { agentUrl } from "./discover.js";
import { refusalFrame, respond } from "./handshake.js";
import { identityOf } from "./identity.js";
import { SealedSession } from "./sealed-session.js";
import { SignedRequests } from "./signed-http.js";
import { ownLosses, PATH, SUBPROTOCOL, VIA } from "./wire.js";

export const routes: readonly Route[] = [
  ...provingRoutes.map((route) => ({ ...route, path: PATH, ...(route.upgrade && { upgrade: [SUBPROTOCOL] }) })),
  { method: "POST", path: PATH, proves: true },
];

/** What a caller with a DID has proved, which further hops must keep. */
const BY_DID: Floor = floorOf(["encrypted", "signed", "identity"]);

export function serve(host: Host): Served {
  const identity = identityOf(host);
  const requests = new SignedRequests(host, identity);
  const handler = packing(host.handler);
  const inner = serveSessions({
    ...host,
    handler,
    begin(from, start) {
      const proved = provedBy(start.caller);
      if (!("session" in from) || !(from.session instanceof SealedSession))
        return ownLosses(host.begin(from, { ...start, via: VIA, proved }));
      const { session, frame } = from;
      const outer = { ...from, session: session.outer, frame: session.outerOf(frame) };
      return ownLosses(host.begin(outer, { ...start, via: VIA, proved }));
    },
  });

  async function accept(session: Session): Promise<void> {
    const frames = session.frames[Symbol.asyncIterator]();
    const side = { context: host, identity, cancel: session.request.cancel };
    let sealed: SealedSession;
    try {
      const channel = await respond(session, frames, side, async (peer) => void (await callerOf(session, peer)));
      sealed = new SealedSession(session, frames, channel);
    } catch (thrown) {
      await session.send(refusalFrame(callerError(host, thrown)));
      session.close(1008, "handshake refused");
      return;
    }
    await inner.accept?.(sealed);
  }

  /** Credentials decide who the caller is; a DID does where there are none. A did:key may be made for one connection. */
  async function callerOf(from: HttpRequest | Session, peer: ProvenPeer): Promise<Principal> {
    const { admitted } = "request" in from ? from.request : from;
    const known = admitted === undefined ? undefined : await host.admit(from);
    const isKnown = known !== undefined && (known.scheme !== "anonymous" || peer.did.startsWith("did:key:"));
    return isKnown ? known : host.identify(from, peer);
  }

  async function answer(request: HttpRequest): Promise<HttpResponse> {
    try {
      const peer = await requests.signerOf(request);
      const caller = await callerOf(request, peer);
      return requests.signed(jsonResponse(200, JSON.stringify({ event: await eventFor(request, caller) })));
    } catch (thrown) {
      const error = callerError(host, thrown);
      const { status, headers } = errorResponse(error.code === "unauthenticated" ? 401 : 400, error);
      return requests.signed({
        status,
        headers: { ...headers, ...error.facts.head, "content-type": "application/json" },
        body: JSON.stringify({ error: encodeError(error) }),
      });
    }
  }

  async function eventFor(request: HttpRequest, caller: Principal): Promise<JsonObject> {
    const wire = readObject(request.json(), "request");
    const op = readText(wire["op"], "op");
    const agent = readText(wire["agent"], "agent");
    if (!isOp(op)) throw new AgentError("unsupported_method", `the secured toy has no operation ${op.slice(0, 100)}`);
    if (!host.cards().some(({ name }) => name === agent))
      throw new AgentError("not_found", "no such agent here", { field: "agent" });
    const operation = decodeOperation(op, readObject(wire["args"], "args"), host.limits);
    const call = ownLosses(host.begin(request, { caller, agent, via: VIA, proved: provedBy(caller) }));
    const reply = handler(operation, call);
    if (!isPromise(reply)) throw new AgentError("unsupported", `${op} is answered in a session`);
    return encodeEvent(await reply, (loss) => call.reportLoss(loss));
  }

  function exchange(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    if (request.method === "POST") return answer(request);
    if (!host.sessions) return errorResponse(404, new AgentError("not_found", "this host has no sessions"));
    const agents = host.cards().map(encodeCard);
    return jsonResponse(200, JSON.stringify({ "secured-toy": 1, agents, url: host.publicUrl(request), did: identity.did }));
  }

  return {
    ...inner,
    exchange,
    accept,
    interfaces: (agent, url) => (host.sessions ? [{ ...VIA, url: agentUrl(url, agent, identity.did) }] : []),
  };
}

/** Only callers that were admitted by their DID have proved one. */
function provedBy({ scheme, id }: Principal): Maybe<Partial<Floor>> {
  return scheme === "did" && !id.startsWith("did:key:") ? BY_DID : undefined;
}

/** Messages of the wire hold bytes and signatures in data parts. */
function packing(handler: Handler): Handler {
  return (operation, call) => {
    const reply = handler(changeOperation(operation, unpackMessage), call);
    return isPromise(reply) ? reply.then(pack) : packed(reply);
  };
}

const pack = (event: AgentEvent): AgentEvent => changeEvent(event, packMessage);

async function* packed(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent, void, void> {
  for await (const event of events) yield pack(event);
}
