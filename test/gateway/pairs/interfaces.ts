import { agent, serve } from "../../../src/index.js";
import type { Protocol, Traits } from "../../../src/public/protocols.js";
import { identitiesFor, type TestParty } from "../../helpers/test-identities.js";

/** One interface of an agent: what a pin names. */
export interface PinnedInterface {
  /** `protocol@version/binding`. */
  readonly pin: string;
  readonly protocol: Protocol;
  readonly version: string;
  readonly traits: Traits;
}

/** Every interface of a host with these protocols, read from a running one so that no list has to be maintained. */
export async function interfacesOf(protocols: readonly Protocol[], host: TestParty = {}): Promise<readonly PinnedInterface[]> {
  const server = await serve(agent({ name: "listed", description: "only serves its interfaces", handle: () => "" }), {
    protocols,
    ...host,
  });
  try {
    return server.interfaces("listed").map(({ protocol: id, version, binding }) => {
      const protocol = protocols.find((each) => each.id === id);
      if (protocol === undefined) throw new Error(`${id} is served and not registered`);
      return { pin: `${id}@${version}/${binding}`, protocol, version, traits: protocol.traits };
    });
  } finally {
    await server.close();
  }
}

/** Every interface of a host that can prove who it is: some are offered only by such a host. */
export async function provenInterfacesOf(protocols: readonly Protocol[]): Promise<readonly PinnedInterface[]> {
  return interfacesOf(protocols, await identitiesFor(protocols).server());
}

/** The interface callers use and the interface the gateway calls. */
export interface Pair {
  readonly name: string;
  readonly listener: PinnedInterface;
  readonly upstream: PinnedInterface;
}

/** Every interface as listener of every interface, itself included. */
export function allPairs(interfaces: readonly PinnedInterface[]): readonly Pair[] {
  return interfaces.flatMap((upstream) => interfaces.map((listener) => pairOf(listener, upstream)));
}

/** One protocol as listener of every interface of a registry and as their upstream, itself included. */
export async function pairsWith(protocol: Protocol, registry: readonly Protocol[]): Promise<readonly Pair[]> {
  const pairs = allPairs(await provenInterfacesOf(registry)).filter(isWith(protocol));
  const interfaces = new Set(pairs.flatMap(({ listener, upstream }) => [listener.pin, upstream.pin]));
  if (pairs.length !== 2 * interfaces.size - 1) throw new Error(`${protocol.id} is not in a pair with every interface`);
  return pairs;
}

/** Of `coveringPairs`, those with one protocol: as listener of every protocol of a registry and as their upstream. */
export async function coveringPairsWith(protocol: Protocol, registry: readonly Protocol[]): Promise<readonly Pair[]> {
  return coveringPairs(await provenInterfacesOf(registry)).filter(isWith(protocol));
}

function isWith(protocol: Protocol): (pair: Pair) => boolean {
  return ({ listener, upstream }) => listener.protocol === protocol || upstream.protocol === protocol;
}

/**
 * Every ordered pair of protocols, and every interface at least once as listener and once as upstream: grows with the square of
 * the protocols, not of the interfaces.
 */
export function coveringPairs(interfaces: readonly PinnedInterface[]): readonly Pair[] {
  const protocols = [...new Set(interfaces.map(({ protocol }) => protocol))];
  const byProtocol = protocols.map((protocol) => interfaces.filter((each) => each.protocol === protocol));
  const listeners = new Uses(interfaces);
  const upstreams = new Uses(interfaces);
  const pairs = byProtocol.flatMap((to) => byProtocol.map((from) => pairOf(listeners.leastUsed(from), upstreams.leastUsed(to))));
  while (listeners.unused() + upstreams.unused() > 0)
    pairs.push(pairOf(listeners.leastUsed(interfaces), upstreams.leastUsed(interfaces)));
  return pairs;
}

class Uses {
  readonly #counts: Map<PinnedInterface, number>;

  constructor(interfaces: readonly PinnedInterface[]) {
    this.#counts = new Map(interfaces.map((each) => [each, 0]));
  }

  leastUsed(among: readonly PinnedInterface[]): PinnedInterface {
    const least = among.reduce((best, each) => (this.#count(each) < this.#count(best) ? each : best));
    this.#counts.set(least, this.#count(least) + 1);
    return least;
  }

  unused(): number {
    return [...this.#counts.values()].filter((count) => count === 0).length;
  }

  #count(each: PinnedInterface): number {
    return this.#counts.get(each) ?? 0;
  }
}

function pairOf(listener: PinnedInterface, upstream: PinnedInterface): Pair {
  return { name: `listener ${listener.pin}, upstream ${upstream.pin}`, listener, upstream };
}
