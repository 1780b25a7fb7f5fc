import { type AgentEvent, type Call, floorOf, isPromise, type Operation, type Reply } from "../../src/envelope/index.js";
import { type Client, type ClientContext, tlsProtection } from "../../src/protocols/index.js";
import type { Link } from "../../src/transport/exchange.js";
import { connect as connectSessions } from "../session-toy/client.js";
import { encodeOperation } from "../session-toy/codec.js";
import { changeEvent, changeOperation, packMessage, unpackMessage } from "./carried.js";
import { didIn } from "./discover.js";
import { initiate } from "./handshake.js";
import { identityOf } from "./identity.js";
import { SealedSession } from "./sealed-session.js";
import { SignedCalls } from "./signed-http.js";
import { ownLosses, SUBPROTOCOL, VIA } from "./wire.js";

/** Operations with one small answer are signed requests; the others are in a sealed session. */
const BY_REQUEST: ReadonlySet<Operation["kind"]> = new Set(["card", "task.get", "task.list", "task.cancel"]);

export function connect(context: ClientContext): Client {
  const identity = identityOf(context);
  const server = didIn(context.peer.url);
  const calls = new SignedCalls(context, identity, server);
  const { link, peer } = context;
  const sealed: Link = {
    exchange: link.exchange,
    close: () => link.close(),
    ...(link.open === undefined
      ? undefined
      : {
          async open(request) {
            const session = await link.open?.call(link, request, [SUBPROTOCOL]);
            if (session === undefined) throw new Error("the link has sessions");
            const frames = session.frames[Symbol.asyncIterator]();
            try {
              const channel = await initiate(session, frames, { context, identity, cancel: request.cancel }, server);
              return new SealedSession(session, frames, channel);
            } catch (thrown) {
              session.close(1008, "handshake refused");
              throw thrown;
            }
          },
        }),
  };
  const sessions = connectSessions({ ...context, link: sealed });
  const trusted = context.settings(VIA.protocol)?.["peer"];

  function reply(operation: Operation, call: Call): Reply {
    if (!BY_REQUEST.has(operation.kind)) return sessions.handler(changeOperation(operation, packMessage), call);
    return calls.ask({ ...encodeOperation(operation, (loss) => call.reportLoss(loss)), agent: peer.card.name }, call);
  }

  return {
    handler(operation, call) {
      const answer = reply(operation, ownLosses(call));
      return isPromise(answer) ? answer.then(unpack) : unpacked(answer);
    },
    // Anyone can seal: only a DID that the user named is worth something, or TLS.
    protection: () => (trusted === server ? floorOf(["encrypted", "signed", "identity"]) : tlsProtection(peer.url)),
    ...(sessions.receive === undefined ? undefined : { receive: sessions.receive }),
    close: () => sessions.close(),
  };
}

const unpack = (event: AgentEvent): AgentEvent => changeEvent(event, unpackMessage);

async function* unpacked(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent, void, void> {
  for await (const event of events) yield unpack(event);
}
