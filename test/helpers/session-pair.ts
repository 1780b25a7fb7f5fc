import type { Principal } from "../../src/envelope/index.js";
import type { Link, Session } from "../../src/transport/exchange.js";
import { memoryLink } from "../../src/transport/memory.js";
import { makeRequest } from "../../src/transport/request.js";

/** The trace of the upgrade request. */
export const UPGRADE_TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/** Options of `sessionPair`. */
export interface PairOptions {
  /** Who was admitted with the upgrade request. */
  readonly caller?: Principal;
  /** Sees the server's end before any message. */
  accepted?(session: Session): void;
  /** The client's link, observed. */
  wrap?(link: Link): Link;
}

/** The two ends of a session without a network. */
export interface SessionPair {
  readonly client: Session;
  readonly server: Session;
  /** The next message that the server, or the client, receives. */
  atServer(): Promise<string>;
  atClient(): Promise<string>;
}

export async function sessionPair({ caller, accepted, wrap }: PairOptions = {}): Promise<SessionPair> {
  let take: (session: Session) => void = () => undefined;
  const accepting = new Promise<Session>((resolve) => {
    take = resolve;
  });
  const link = memoryLink({
    take: () => ({ status: 404, headers: {}, body: undefined }),
    upgrade(head) {
      if (caller !== undefined) head.admitted = { principal: caller };
      return {
        subprotocol: undefined,
        headers: {},
        abandon: () => undefined,
        async accept(session) {
          accepted?.(session);
          take(session);
          await session.closed;
        },
      };
    },
  });
  const client = await (wrap?.(link) ?? link).open?.(
    makeRequest({ method: "GET", url: "ws://server.test/toy?key=s3cret&n=1", headers: { traceparent: UPGRADE_TRACE } }),
    [],
  );
  if (client === undefined) throw new Error("the link has no sessions");
  const server = await accepting;
  return { client, server, atServer: reader(server), atClient: reader(client) };
}

function reader({ frames }: Session): () => Promise<string> {
  const iterator = frames[Symbol.asyncIterator]();
  return async () => {
    const step = await iterator.next();
    if (step.done === true || typeof step.value !== "string") throw new Error("no text message");
    return step.value;
  };
}
