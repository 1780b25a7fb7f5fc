import type { Chunk, Link, Session } from "../../src/transport/exchange.js";
import { poolLink } from "../../src/transport/node/index.js";

/** What an attacker on the way does with the messages of a client: the first is its hello. */
export type Tamper = (frame: string, index: number, send: (frame: string) => void) => void;

export const pass: Tamper = (frame, _index, send) => send(frame);

/** A link whose messages pass through somebody else's hands. */
export function tamperingLink(tamper: Tamper, sent: string[] = []): Link {
  const link = poolLink();
  return {
    exchange: link.exchange,
    close: () => link.close(),
    async open(request, subprotocols) {
      const session = await link.open?.(request, subprotocols);
      if (session === undefined) throw new Error("the link has sessions");
      return through(session, tamper, sent);
    },
  };
}

function through(session: Session, tamper: Tamper, sent: string[]): Session {
  let index = 0;
  const send = (frame: Chunk, call: Parameters<Session["send"]>[1]): ReturnType<Session["send"]> => {
    sent.push(String(frame));
    let last: ReturnType<Session["send"]>;
    tamper(String(frame), index++, (each) => {
      last = session.send(each, call);
    });
    return last;
  };
  return {
    request: session.request,
    subprotocol: session.subprotocol,
    frames: session.frames,
    send,
    assign: (frame, call) => session.assign(frame, call),
    tap: (tap) => session.tap(tap),
    hold: () => session.hold(),
    shutDown: (reason) => session.shutDown(reason),
    close: (code, reason) => session.close(code, reason),
    closed: session.closed,
  };
}
