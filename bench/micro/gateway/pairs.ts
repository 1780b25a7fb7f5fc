import { WIRES, wireOf } from "./wires/all.js";
import type { Wire } from "./wires/wire.js";

/** The protocol of the callers and of the upstream. */
export interface Pair {
  readonly front: Wire;
  readonly behind: Wire;
  /** As on the command line: `acp:agora`. */
  readonly name: string;
  /** As in published names: `acp_to_agora`. */
  readonly key: string;
}

export function pairOf(front: Wire, behind: Wire): Pair {
  const plain = (id: string) => id.replace(/[-.]/g, "_");
  return { front, behind, name: `${front.id}:${behind.id}`, key: `${plain(front.id)}_to_${plain(behind.id)}` };
}

/** `a2a-1.0-jsonrpc:acp,acp:agora`. Throws an Error with a sentence for the user. */
export function parsePairs(text: string): readonly Pair[] {
  return text.split(",").map((each) => {
    const [front = "", behind, ...rest] = each.trim().split(":");
    if (behind === undefined || rest.length > 0) throw new Error(`--pairs takes front:behind, not ${each}`);
    return pairOf(wireOf(front), wireOf(behind));
  });
}

export const ALL_PAIRS: readonly Pair[] = WIRES.flatMap((front) => WIRES.map((behind) => pairOf(front, behind)));

/** One protocol to another, the reverse, and one to gRPC, which has its own baseline. */
export const FEW_PAIRS: readonly Pair[] = parsePairs("a2a-1.0-jsonrpc:acp,acp:a2a-1.0-jsonrpc,a2a-1.0-jsonrpc:a2a-1.0-grpc");

/** Callers that speak HTTP/2 are h2load's. */
export function needsTool({ front }: Pair): boolean {
  return front.http === 2;
}

export function hasStreams({ front, behind }: Pair): boolean {
  return front.stream !== undefined && behind.stream !== undefined;
}
