import { AgentError, type AgentEvent, type Call, CancelSource, type Envelope, type Operation } from "../../src/envelope/index.js";
import { type Client, type ClientContext, tlsProtection } from "../../src/protocols/index.js";
import { PeerSession } from "./client/peer-session.js";
import { encodeOperation } from "./codec.js";

/** The client side: all calls to a peer in one session. */
export function connect(context: ClientContext): Client {
  const session = new PeerSession(context);
  const { peer, inbox } = context;

  function eventsOf(operation: Operation, call: Call): AsyncIterableIterator<AgentEvent, undefined> {
    const { traceparent, tracestate } = call.parameters;
    return session.call(
      () => ({
        ...encodeOperation(operation, (loss) => call.reportLoss(loss)),
        agent: peer.card.name,
        hops: call.hops,
        trace: traceparent === undefined ? undefined : { traceparent, tracestate },
      }),
      call,
    );
  }

  async function answer(operation: Operation, call: Call): Promise<AgentEvent> {
    const events = eventsOf(operation, call);
    const first = await events.next();
    if (first.done === true) throw new AgentError("bad_peer", `the peer answered ${operation.kind} with nothing`);
    const more = await events.next();
    if (more.done === true) return first.value;
    await events.return?.();
    throw new AgentError("bad_peer", `the peer answered ${operation.kind} with a stream`);
  }

  /** The peer can start messages only in an open session: what is received ends with it. */
  async function* receive(call: Call): AsyncGenerator<Envelope, void, void> {
    const opened = await session.opened(call);
    const cancel = new CancelSource();
    const off = call.cancel.onCancel((reason) => cancel.cancel(reason));
    void opened.ended.then(() => cancel.cancel(new AgentError("interrupted", "the session ended", { sent: "no" })));
    try {
      yield* inbox.receive(call.derive({ cancel }));
    } finally {
      off();
    }
    if (cancel.reason?.code === "interrupted") throw cancel.reason;
  }

  return {
    handler(operation, call) {
      const streams = operation.kind === "task.subscribe" || (operation.kind === "send" && operation.delivery === "stream");
      return streams ? eventsOf(operation, call) : answer(operation, call);
    },
    protection: () => tlsProtection(peer.url),
    receive,
    close: () => session.close(),
  };
}
