import { CONTRACT_CARD, fixedIds, outcomeOf, PUBLIC_URL } from "../../conformance/scripted-host.js";
import type { AgentEvent, Card, Handler, Loss, Operation } from "../../src/index.js";
import { createHost, front, memoryLink, type Peer, type Protocol, startCall } from "../../src/public/protocols.js";
import { createMemoryStore } from "../../src/tasks/index.js";

/** What came out at both ends of a bridge, and what was said to be lost on the way. */
export interface Crossing {
  /** What the agent behind the bridge was asked. */
  readonly heard: readonly Operation[];
  /** What its caller in front of the bridge got. */
  readonly events: readonly AgentEvent[];
  readonly error: string | undefined;
  readonly losses: readonly Loss[];
}

/** A caller who speaks one protocol, a bridge, and an agent who speaks another; no socket and no runtime in between. */
export interface Bridge {
  cross(operation: Operation, script: Handler): Promise<Crossing>;
}

/** One bridge, found and connected as any client would; used for many crossings. */
export async function bridge(inFront: Protocol, behind: Protocol): Promise<Bridge> {
  const losses: Loss[] = [];
  const heard: Operation[] = [];
  let script: Handler = () => Promise.reject(new Error("nobody wrote a script"));
  const lose = (loss: Loss): void => void losses.push(loss);

  const agent: Handler = (operation, call) => {
    heard.push(operation);
    return script(operation, call);
  };
  const upstream = await plug(behind, agent, CONTRACT_CARD, lose);
  const downstream = await plug(
    inFront,
    (operation, call) => upstream.handler(operation, call.derive({ reportLoss: lose })),
    upstream.card,
    lose,
  );
  return {
    async cross(operation, written) {
      script = written;
      losses.length = 0;
      heard.length = 0;
      const { events, error } = await outcomeOf(() => downstream.handler(operation, startCall({ reportLoss: lose })));
      return { heard: [...heard], events, error: error?.code, losses: [...losses] };
    },
  };
}

/** Client half into server half, with the peer as discovery finds it. */
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
  const finding = await protocol.discover(link, PUBLIC_URL, startCall());
  const peer: Peer | undefined = finding?.peers[0];
  if (peer === undefined) throw new Error(`${protocol.id} does not find itself`);
  return { handler: protocol.connect(link, peer, ids), card: peer.card };
}
