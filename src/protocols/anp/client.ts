import { AgentError, type AgentEvent, type Call, type Operation, type Reply, raiseFloor } from "../../envelope/index.js";
import { isEventStream } from "../../transport/body.js";
import { PeerEvents, type Source } from "../../transport/peer-events.js";
import type { Client, ClientContext } from "../protocol.js";
import { tlsProtection } from "../tls-protection.js";
import { answerIn, chunksOf, eventIn, factsOf } from "./client/answers.js";
import { connectDescribed } from "./client/described-calls.js";
import { connectDirect } from "./client/direct-messages.js";
import { downgradeRefusal } from "./client/downgrade.js";
import { negotiatingFirst } from "./client/negotiation.js";
import { SignedRequests } from "./client/signed-requests.js";
import { type DecodeFacts, encodeOperation, streams, writeRequest } from "./codec.js";
import { identityOf } from "./identity/own-identity.js";
import { connectLegacySession } from "./legacy-session/client.js";
import { connectPlain } from "./plain/http-client.js";
import { connectPlainSession } from "./plain/session-client.js";
import { sessions } from "./session/index.js";
import { readSettings } from "./settings.js";
import { type Binding, LEGACY, PLAIN, PROTOCOL } from "./wire.js";

/** The client side of one interface of a peer. One that protects less than a known peer can prove gets no message. */
export function connect(context: ClientContext): Client {
  const client = connectBinding(context);
  const refusal = downgradeRefusal(context);
  if (refusal === undefined) return client;
  const { protection, close } = client;
  return { handler: () => Promise.reject(refusal()), protection, close };
}

function connectBinding(context: ClientContext): Client {
  const binding = context.peer.binding as Binding;
  switch (binding) {
    case "JSONRPC":
      return negotiatingFirst(connectRpc(context), context, "direct_structured_call");
    case "WS":
      return negotiatingFirst(connectSession(context), context, "direct_structured_call");
    case "OPENRPC":
      return connectDescribed(context);
    case "DIRECT":
      return negotiatingFirst(connectDirect(context), context, "direct_message");
    case "PLAIN":
      return connectPlain(context);
    default:
      throw new AgentError("unsupported", `the binding ${String(binding satisfies never)} is not supported`, { sent: "no" });
  }
}

/** The versions before have a session of their own. */
function connectSession(context: ClientContext): Client {
  if (context.peer.version === PLAIN) return connectPlainSession(context);
  if (context.peer.version === LEGACY) return connectLegacySession(context);
  return sessions.connect(context, identityOf(context));
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
