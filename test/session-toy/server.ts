import { AgentError, type Maybe, type Principal } from "../../src/envelope/index.js";
import { callerError } from "../../src/protocols/host.js";
import type { Host, Route, Served } from "../../src/protocols/index.js";
import { ServedSessions } from "../../src/protocols/served-session.js";
import type { CalleeWire, CallerMessage } from "../../src/protocols/session-wire.js";
import type { Chunk, HttpRequest, HttpResponse, Session } from "../../src/transport/exchange.js";
import { errorResponse, jsonResponse } from "../../src/transport/response.js";
import { agentUrl, decodeMessage, decodeOperation, encodeCard, encodeEvent, encodeMessage, isOp, sessionUrl } from "./codec.js";
import { encodeError } from "./errors.js";
import { CLOSE, PATH, readClientMessage, SUBPROTOCOL, VIA } from "./wire.js";

export const routes: readonly Route[] = [
  { method: "GET", path: PATH, upgrade: [SUBPROTOCOL] },
  { method: "GET", path: PATH },
];

/** The caller may be named by the first message of the session instead of by credentials. */
export const provingRoutes: readonly Route[] = routes.map((route) =>
  route.upgrade === undefined ? route : { ...route, proves: true },
);

export function serve(host: Host): Served {
  const sessions = new ServedSessions();
  const wire = calleeWire(host);

  function exchange(request: HttpRequest): HttpResponse {
    if (!host.sessions) return errorResponse(404, new AgentError("not_found", "this host has no sessions"));
    return jsonResponse(
      200,
      JSON.stringify({
        "session-toy": 1,
        agents: host.cards().map(encodeCard),
        url: sessionUrl(host.publicUrl(request)),
      }),
    );
  }

  async function accept(session: Session): Promise<void> {
    const frames = session.frames[Symbol.asyncIterator]();
    const caller = await admitted(session, frames);
    if (caller !== undefined) await sessions.run({ host, wire, session, caller }, frames);
  }

  /** The caller: admitted with the upgrade request, or named by the first message. Undefined if it is refused. */
  async function admitted(session: Session, frames: AsyncIterator<Chunk>): Promise<Maybe<Principal>> {
    if (session.request.admitted !== undefined) return host.admit(session);
    try {
      const first = await frames.next();
      if (first.done === true) return undefined;
      const message = readClientMessage(first.value, host.limits);
      if (message.kind !== "hello") throw new AgentError("unauthenticated", "the first message must be hello with a DID");
      // A toy takes the word of its peer; a protocol would verify a signature here.
      const caller = await host.identify(session, { did: message.did, keyId: `${message.did}#key` });
      await session.send(JSON.stringify({ hello: caller.owner }));
      return caller;
    } catch (thrown) {
      const error = callerError(host, thrown);
      await session.send(JSON.stringify({ error: encodeError(error) }));
      session.close(error.code === "overloaded" ? CLOSE.tryLater : CLOSE.refused, error.code);
      return undefined;
    }
  }

  return {
    exchange,
    accept,
    interfaces: (agent, url) => (host.sessions ? [{ ...VIA, url: agentUrl(sessionUrl(url), agent) }] : []),
    say: (owner, envelope) => sessions.say(owner, envelope),
    close: () => sessions.close(),
  };
}

function calleeWire({ limits }: Host): CalleeWire {
  return {
    via: VIA,
    read(frame): CallerMessage {
      const message = readClientMessage(frame, limits);
      if (message.kind === "cancel") return message;
      if (message.kind === "say") return { kind: "say", message: () => decodeMessage(message.message, "say", limits) };
      if (message.kind === "hello") throw new AgentError("conflict", "the caller of this session is already known");
      const { id, op, agent, hops, trace, args } = message.request;
      const request = {
        id,
        agent,
        hops,
        parameters: trace && {
          traceparent: trace.traceparent,
          ...(trace.tracestate === undefined ? undefined : { tracestate: trace.tracestate }),
        },
        operation() {
          if (!isOp(op)) throw new AgentError("unsupported_method", `the session toy has no operation ${op.slice(0, 100)}`);
          return decodeOperation(op, args, limits);
        },
      };
      return { kind: "request", request };
    },
    event: (id, event, reportLoss) => JSON.stringify({ id, event: encodeEvent(event, reportLoss) }),
    end: (id, event, reportLoss) => JSON.stringify({ id, end: event === undefined ? null : encodeEvent(event, reportLoss) }),
    error: (id, error) => JSON.stringify({ id, error: encodeError(error) }),
    say: (envelope, reportLoss) => JSON.stringify({ say: encodeMessage(envelope, "message", reportLoss) }),
  };
}
