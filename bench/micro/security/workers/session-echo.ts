import type { Intake, Session, SessionTap } from "../../../../src/public/protocols.js";
import { listen } from "../../../../src/transport/node/index.js";
import { answerCommands } from "../../../harness/worker.js";

/** The same with our session: the listener with its default limits, two observers as a server has them, one reader. */

answerCommands({ start });

async function start(): Promise<number> {
  const { port } = await listen(intake, { port: 0, onError: reportError });
  return port;
}

const intake: Intake = {
  take: () => ({ status: 404, headers: {}, body: undefined }),
  upgrade: () => ({ subprotocol: undefined, headers: {}, accept: echo, abandon() {} }),
};

async function echo(session: Session): Promise<void> {
  session.tap(countingTap());
  session.tap(countingTap());
  for await (const frame of session.frames) {
    const room = session.send(frame);
    if (room !== undefined) await room;
  }
}

/** The least that an observer does. */
function countingTap(): SessionTap {
  let messages = 0;
  let bytes = 0;
  const count = (_frame: unknown, length: number) => {
    messages++;
    bytes += length;
  };
  return {
    received: count,
    sent: count,
    ended({ code, clean }) {
      if (!clean) process.stderr.write(`session echo: ended with ${code} after ${messages} messages, ${bytes} bytes\n`);
    },
  };
}

function reportError(thrown: unknown): void {
  process.stderr.write(`session echo: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`);
}
