import type { Call, Interface, Maybe } from "../envelope/index.js";
import type { Chunk, Session } from "../transport/exchange.js";

/** The peer of an agent that is relayed. A protocol whose sessions are sealed passes them on to it unopened. */
export interface RelayedPeer {
  /** Its interfaces, with the addresses that its card has. */
  readonly interfaces: readonly Interface[];
  /** Opens a session at one of them, over the connection that calls use. */
  openSession(url: string, subprotocols: readonly string[], call: Call): Promise<Session>;
}

/** RFC 6455 §7.4.1. */
const NORMAL = 1000;
const GOING_AWAY = 1001;
/** Codes that describe an end and cannot be sent: no code was given, the connection broke, TLS failed. */
const NEVER_SENT: ReadonlyMap<number, number> = new Map([
  [1005, NORMAL],
  [1006, GOING_AWAY],
  [1015, GOING_AWAY],
]);

/** One side of a session that is passed on. */
interface End {
  readonly session: Session;
  readonly frames: AsyncIterator<Chunk>;
}

/** Passes messages in both directions, as they are, until one side ends; then it ends the other in the same way. */
export async function passMessages(caller: End, peer: End): Promise<void> {
  await Promise.all([pass(caller, peer.session), pass(peer, caller.session)]);
}

async function pass({ session, frames }: End, to: Session): Promise<void> {
  try {
    for (let step = await frames.next(); step.done !== true; step = await frames.next()) {
      // Who does not read is not sent more: the other side waits, too.
      const full: Maybe<Promise<void>> = to.send(step.value);
      if (full !== undefined) await full;
    }
  } catch {
    // It ended while a message was sent: `closed` says how.
    session.close(GOING_AWAY, "the other side has ended");
  }
  const { code, reason } = await session.closed;
  to.close(NEVER_SENT.get(code) ?? code, reason);
}
