import { CONTRACT_CARD, fixedIds, outcomeOf, PUBLIC_URL } from "../../conformance/scripted-host.js";
import type { AgentEvent, Card, Handler, Loss, Operation } from "../../src/index.js";
import { createClientContext } from "../../src/protocols/client-context.js";
import { createHost, front, memoryLink, type Peer, type Protocol, startCall } from "../../src/public/protocols.js";
import { createMemoryStore } from "../../src/tasks/index.js";

/** What arrived at both ends of a bridge, and the losses reported in between. */
export interface Crossing {
  /** The request that the upstream agent received. */
  readonly requests: readonly Operation[];
  /** The answer that the caller received. */
  readonly events: readonly AgentEvent[];
  readonly error: string | undefined;
  readonly losses: readonly Loss[];
}

/** A caller of one protocol, a bridge, and an agent of another protocol, without sockets or a runtime. */
export interface Bridge {
  cross(operation: Operation, script: Handler): Promise<Crossing>;
}

/** One bridge, discovered and connected as by any client; used for many exchanges. */
export async function bridge(listener: Protocol, to: Protocol): Promise<Bridge> {
  const losses: Loss[] = [];
  const requests: Operation[] = [];
  let script: Handler = () => Promise.reject(new Error("nobody wrote a script"));
  const lose = (loss: Loss): void => void losses.push(loss);

  const agent: Handler = (operation, call) => {
    requests.push(operation);
    return script(operation, call);
  };
  const upstream = await plug(to, agent, CONTRACT_CARD, lose);
  const downstream = await plug(
    listener,
    (operation, call) => upstream.handler(operation, call.derive({ reportLoss: lose })),
    upstream.card,
    lose,
  );
  return {
    async cross(operation, written) {
      script = written;
      losses.length = 0;
      requests.length = 0;
      const { events, error } = await outcomeOf(() => downstream.handler(operation, startCall({ reportLoss: lose })));
      return { requests: [...requests], events, error: error?.code, losses: [...losses] };
    },
  };
}

/** The client half connected to the server half, with the peer as discovery resolves it. */
async function plug(protocol: Protocol, handler: Handler, card: Card, lose: (loss: Loss) => void) {
  const ids = fixedIds();
  const made = createHost({
    handler,
    cards: [card],
    ids,
    publicUrl: PUBLIC_URL,
    records: createMemoryStore({ now: ids.now }).records,
  });
  const host = {
    ...made,
    begin: (_request: unknown, start: Parameters<typeof made.begin>[1]) => startCall({ ...start, reportLoss: lose }),
  };
  const link = memoryLink(front(host, [protocol]).exchange);
  const context = createClientContext({ link, ids, records: () => made.records("client") });
  const finding = await protocol.discover(context, PUBLIC_URL, startCall());
  const peer: Peer | undefined = finding?.peers[0];
  if (peer === undefined) throw new Error(`${protocol.id} does not find itself`);
  return { handler: protocol.connect({ ...context, peer }).handler, card: peer.card };
}
