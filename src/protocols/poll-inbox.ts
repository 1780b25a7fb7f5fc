import { AgentError, type Call, type Envelope, isObject, type Maybe, readUte } from "../envelope/index.js";
import { responseJson } from "../transport/body.js";
import { makeRequest } from "../transport/request.js";
import { CODE_OF_STATUS } from "../transport/status-codes.js";
import type { Client, ClientContext } from "./protocol.js";

/** The wait after an empty answer doubles from the first to the longest. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;
/** Statuses of servers that have no inbox. */
const ABSENT: ReadonlySet<number> = new Set([404, 405, 501]);

/**
 * Receives the messages of a peer by the seed's `GET /inbox`, which answers `{"messages": [envelope, …]}`. Few servers have it: its
 * absence is remembered, so that they are asked only once.
 */
export function pollInbox(context: ClientContext): NonNullable<Client["receive"]> {
  const { link, peer, limits } = context;
  let absent: Maybe<AgentError>;

  async function poll(call: Call): Promise<readonly Envelope[]> {
    const response = await link.exchange(makeRequest({ method: "GET", url: inboxOf(peer.url), call }));
    const { status } = response;
    if (ABSENT.has(status)) {
      absent = new AgentError("unsupported", `${peer.card.name} has no inbox: it answered GET /inbox with ${status}`, { status });
      throw absent;
    }
    if (status !== 200)
      throw new AgentError(CODE_OF_STATUS.get(status) ?? "bad_peer", `GET /inbox was answered with ${status}`, { status });
    const document = await responseJson(response, limits);
    const messages = isObject(document) ? document["messages"] : undefined;
    if (!Array.isArray(messages)) throw new AgentError("bad_peer", "the answer to GET /inbox has no list of messages");
    return messages.slice(0, limits.inboxMessages).map(readMessage);
  }

  return async function* receive(call): AsyncGenerator<Envelope, void, void> {
    if (absent !== undefined) throw absent;
    for (let waitMs = FIRST_WAIT_MS; !call.cancel.cancelled; ) {
      const messages = await poll(call);
      yield* messages;
      waitMs = messages.length > 0 ? FIRST_WAIT_MS : Math.min(waitMs * 2, LONGEST_WAIT_MS);
      await pause(waitMs, call);
    }
  };
}

function readMessage(message: unknown): Envelope {
  try {
    return readUte(message);
  } catch (cause) {
    throw new AgentError("bad_peer", `a message of the inbox is invalid: ${AgentError.from(cause).message}`, { cause });
  }
}

/** Some bindings write their address without a scheme. */
function inboxOf(url: string): string {
  return `${new URL(url.includes("://") ? url : `http://${url}`).origin}/inbox`;
}

/** Ends early when the call is cancelled. */
function pause(ms: number, call: Call): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    const off = call.cancel.onCancel(done);
    function done(): void {
      clearTimeout(timer);
      off();
      resolve();
    }
  });
}
