import { agent, serve } from "../../../src/index.js";
import type { Protocol, Traits } from "../../../src/public/protocols.js";

/** One way to call an agent: what a pin names. */
export interface Way {
  /** `protocol@version/binding`. */
  readonly pin: string;
  readonly protocol: Protocol;
  readonly version: string;
  readonly traits: Traits;
}

/** Every way that a host of these protocols offers, asked of one that runs: nobody keeps a list of them. */
export async function waysOf(protocols: readonly Protocol[]): Promise<readonly Way[]> {
  const server = await serve(agent({ name: "asked", description: "is only asked how it is reached", handle: () => "" }), {
    protocols,
  });
  try {
    return server.interfaces("asked").map(({ protocol: id, version, binding }) => {
      const protocol = protocols.find((each) => each.id === id);
      if (protocol === undefined) throw new Error(`${id} is offered, and nobody knows it`);
      return { pin: `${id}@${version}/${binding}`, protocol, version, traits: protocol.traits };
    });
  } finally {
    await server.close();
  }
}

/** One way in front of another. */
export interface Pair {
  readonly name: string;
  readonly front: Way;
  readonly behind: Way;
}

export function pairsOf(ways: readonly Way[]): readonly Pair[] {
  return ways.flatMap((behind) => ways.map((front) => ({ name: `${front.pin} in front of ${behind.pin}`, front, behind })));
}
