import { AgentError, type Call, ownerOf } from "../../src/envelope/index.js";
import { type Client, type ClientContext, tlsProtection } from "../../src/protocols/index.js";
import { PeerSession } from "../../src/protocols/peer-session.js";
import type { CalleeMessage, CallerWire } from "../../src/protocols/session-wire.js";
import type { OpenedSession } from "../../src/protocols/shared-session.js";
import type { Chunk, Session } from "../../src/transport/exchange.js";
import { openSession } from "../../src/transport/links.js";
import { makeRequest } from "../../src/transport/request.js";
import { decodeEvent, decodeMessage, encodeOperation } from "./codec.js";
import { decodeError } from "./errors.js";
import { readServerMessage, SUBPROTOCOL } from "./wire.js";

/** The client side: all calls to a peer in one session. */
export function connect(context: ClientContext): Client {
  const session = new PeerSession({ context, wire: callerWire(context), open: (call) => open(context, call) });
  return {
    handler: session.handler,
    protection: () => tlsProtection(context.peer.url),
    receive: (call) => session.receive(call),
    close: () => session.close(),
  };
}

function callerWire({ peer, limits }: ClientContext): CallerWire {
  return {
    request(operation, call) {
      const { traceparent, tracestate } = call.parameters;
      const request = {
        ...encodeOperation(operation, (loss) => call.reportLoss(loss)),
        agent: peer.card.name,
        hops: call.hops,
        trace: traceparent === undefined ? undefined : { traceparent, tracestate },
      };
      return (id) => JSON.stringify({ id, ...request });
    },
    cancel: (id) => JSON.stringify({ cancel: id }),
    read(frame): CalleeMessage {
      const message = readServerMessage(frame, limits);
      switch (message.kind) {
        case "event":
          return { ...message, event: () => decodeEvent(message.event, limits) };
        case "end": {
          const { event } = message;
          return { ...message, event: event && (() => decodeEvent(event, limits)) };
        }
        case "error":
          return { ...message, error: decodeError(message.error) };
        case "say":
          return { kind: "say", message: () => decodeMessage(message.message, "say", limits) };
        default:
          throw new AgentError("bad_peer", "the caller of this session is already known");
      }
    },
  };
}

async function open({ link, peer, settings, limits }: ClientContext, call: Call): Promise<OpenedSession> {
  const request = makeRequest({ method: "GET", url: peer.url, call });
  const session = await openSession(link, request, [SUBPROTOCOL]);
  const frames = session.frames[Symbol.asyncIterator]();
  const did = settings("session-toy")?.["did"];
  if (typeof did === "string") await sayHello(session, frames, did, limits);
  const { name } = peer.card;
  return { session, frames, peer: { id: name, scheme: "anonymous", scopes: [], owner: ownerOf("anonymous", name) } };
}

async function sayHello(session: Session, frames: AsyncIterator<Chunk>, did: string, limits: ClientContext["limits"]) {
  await session.send(JSON.stringify({ hello: did }));
  const { value, done } = await frames.next();
  if (done === true) {
    const { code, reason } = await session.closed;
    throw new AgentError("interrupted", `the session ended (${code}${reason === "" ? "" : `: ${reason}`})`);
  }
  const message = readServerMessage(value, limits);
  if (message.kind === "error") throw decodeError(message.error);
  if (message.kind !== "hello") throw new AgentError("bad_peer", "the server did not answer hello");
}
