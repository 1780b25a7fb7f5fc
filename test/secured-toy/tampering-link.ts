import type { Chunk, Link, Session } from "../../src/transport/exchange.js";
import { poolLink } from "../../src/transport/node/index.js";

/** What an attacker on the way does with the messages of a client: the first is its hello. */
export type Tamper<T extends Chunk = string> = (frame: T, index: number, send: (frame: T) => void) => void;

export const pass = <T extends Chunk>(frame: T, _index: number, send: (frame: T) => void): void => send(frame);

/** A link whose messages pass through somebody else's hands. `T`: what the protocol sends. `answers`: the same for what it receives. */
export function tamperingLink<T extends Chunk = string>(tamper: Tamper<T>, sent: T[] = [], answers: Tamper<T> = pass): Link {
  const link = poolLink();
  return {
    exchange: link.exchange,
    close: () => link.close(),
    async open(request, subprotocols) {
      const session = await link.open?.(request, subprotocols);
      if (session === undefined) throw new Error("the link has sessions");
      return through(session, tamper, sent, answers);
    },
  };
}

function through<T extends Chunk>(session: Session, tamper: Tamper<T>, sent: T[], answers: Tamper<T>): Session {
  let index = 0;
  const send = (frame: Chunk, call: Parameters<Session["send"]>[1]): ReturnType<Session["send"]> => {
    sent.push(frame as T); // the protocol sends nothing else
    let last: ReturnType<Session["send"]>;
    tamper(frame as T, index++, (each) => {
      last = session.send(each, call);
    });
    return last;
  };
  return {
    request: session.request,
    subprotocol: session.subprotocol,
    frames: answered(session.frames, answers),
    send,
    assign: (frame, call) => session.assign(frame, call),
    markSealed: (seal) => session.markSealed(seal),
    tap: (tap) => session.tap(tap),
    hold: () => session.hold(),
    shutDown: (reason) => session.shutDown(reason),
    close: (code, reason) => session.close(code, reason),
    closed: session.closed,
  };
}

async function* answered<T extends Chunk>(frames: AsyncIterable<Chunk>, tamper: Tamper<T>): AsyncGenerator<Chunk, void, void> {
  let index = 0;
  for await (const frame of frames) {
    const out: T[] = [];
    tamper(frame as T, index++, (each) => out.push(each)); // the peer sends nothing else
    yield* out;
  }
}
