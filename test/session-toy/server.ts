import { AgentError, type Envelope, type Maybe, type Principal } from "../../src/envelope/index.js";
import { callerError } from "../../src/protocols/host.js";
import type { Host, Route, Served } from "../../src/protocols/index.js";
import type { Chunk, HttpRequest, HttpResponse, Session } from "../../src/transport/exchange.js";
import { errorResponse, jsonResponse } from "../../src/transport/response.js";
import { agentUrl, encodeCard, sessionUrl } from "./codec.js";
import { encodeError } from "./errors.js";
import { ServedSession } from "./server/served-session.js";
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
  /** By owner, oldest first. */
  const sessions = new Map<string, Set<ServedSession>>();

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
    if (caller === undefined) return;
    const served = new ServedSession(host, session, caller);
    const own = sessions.get(caller.owner) ?? new Set();
    sessions.set(caller.owner, own.add(served));
    try {
      await served.run(frames);
    } finally {
      own.delete(served);
      if (own.size === 0) sessions.delete(caller.owner);
    }
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
    async say(owner: string, envelope: Envelope) {
      const newest = [...(sessions.get(owner) ?? [])].at(-1);
      if (newest === undefined) throw new AgentError("unavailable", "this caller has no open session", { sent: "no" });
      await newest.say(envelope);
    },
    async close() {
      await Promise.all([...sessions.values()].flatMap((own) => [...own].map((each) => each.goAway())));
    },
  };
}
