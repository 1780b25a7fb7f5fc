import { AgentError, type Cancel, type Maybe } from "../../../envelope/index.js";
import type { Chunk, Session } from "../../../transport/exchange.js";
import type { HandshakeMessages } from "./handshake.js";
import { handshakeError } from "./handshake-error.js";
import { SESSION_LIMITS } from "./profile.js";

/** Runs a handshake on a session: within its time, and until the caller cancels. */
export async function withinTime<T>(
  session: Session,
  frames: AsyncIterator<Chunk>,
  cancel: Cancel,
  run: (messages: HandshakeMessages) => Promise<T>,
): Promise<T> {
  const messages: HandshakeMessages = {
    send: (frame) => session.send(frame),
    async next() {
      const { value, done } = await frames.next();
      if (done !== true) return value;
      const { code, reason } = await session.closed;
      throw handshakeError("cut", `the connection ended during the handshake (${code}${reason === "" ? "" : `: ${reason}`})`);
    },
  };
  let timer: Maybe<ReturnType<typeof setTimeout>>;
  let off: Maybe<() => void>;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(handshakeError("timed_out", `the handshake took longer than ${SESSION_LIMITS.handshakeMs} ms`));
    }, SESSION_LIMITS.handshakeMs);
    timer.unref?.();
    off = cancel.onCancel((reason) => reject(AgentError.from(reason)));
  });
  try {
    return await Promise.race([run(messages), limit]);
  } finally {
    clearTimeout(timer);
    off?.();
  }
}
