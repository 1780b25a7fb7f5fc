import { AgentError } from "../../../envelope/index.js";
import { bytesOf } from "../../../transport/body.js";
import type { Chunk, Session } from "../../../transport/exchange.js";
import { callerError } from "../../host.js";
import type { Host, Route } from "../../protocol.js";
import { ServedSessions } from "../../served-session.js";
import { isSourceHello } from "../legacy-session/hello.js";
import type { LegacyServer } from "../legacy-session/server.js";
import type { SessionServer } from "../sessions.js";
import { PLAIN, PROTOCOL, SESSION_PATH } from "../wire.js";
import { plainCalleeWire, plainError } from "./callee-wire.js";

/** RFC 6455 §7.4.1. */
const REFUSED = 1008;
const TOO_LARGE = 1009;
const VIA = { protocol: PROTOCOL, version: PLAIN, binding: "WS" } as const;

/** The seeds' clients offer no subprotocol. The old session, where it is on, proves its caller itself. */
export const plainSessionRoutes: readonly Route[] = [{ method: "GET", path: SESSION_PATH, upgrade: [], proves: true }];

/** Sessions at `/ws`. Their first message says whether they are of the plain form or old ones. */
export function servePlainSessions(host: Host, legacy: LegacyServer): SessionServer {
  const sessions = new ServedSessions();

  async function accept(session: Session): Promise<void> {
    const frames = session.frames[Symbol.asyncIterator]();
    const first = await frames.next();
    if (first.done === true) return;
    if (isSourceHello(first.value)) {
      const caller = await legacy.accepted(session, first.value, frames);
      if (caller !== undefined) await sessions.run(caller.parts, caller.frames);
      return;
    }
    await acceptPlain(session, first.value, frames);
  }

  async function acceptPlain(session: Session, first: Chunk, frames: AsyncIterator<Chunk>): Promise<void> {
    const { unprovenBytes } = host.limits;
    try {
      if (session.request.admitted === undefined && bytesOf(first).length > unprovenBytes)
        throw new AgentError("too_large", `the first message of an unknown caller has at most ${unprovenBytes} bytes`);
      const caller = await host.admit(session);
      const wire = plainCalleeWire({ host, caller, via: VIA });
      await sessions.run({ host, wire, session, caller }, startingWith(first, frames));
    } catch (thrown) {
      const error = callerError(host, thrown);
      host.refused(session, error);
      session.send(JSON.stringify(plainError(undefined, error)))?.catch(() => undefined);
      session.close(error.code === "too_large" ? TOO_LARGE : REFUSED, error.code);
    }
  }

  return { accept, say: (owner, envelope) => sessions.say(owner, envelope), close: () => sessions.close() };
}

/** A message that was read is read again. */
function startingWith(first: Chunk, frames: AsyncIterator<Chunk>): AsyncIterator<Chunk> {
  let isRead = false;
  return {
    next() {
      if (isRead) return frames.next();
      isRead = true;
      return Promise.resolve({ done: false, value: first });
    },
  };
}
