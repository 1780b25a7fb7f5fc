/** The workload of every arm, and its sizes. */

/** Lengths of the body of a request, as the wire has it. */
export const SIZES = { small: 300, medium: 1_024, large: 100 * 1_024 } as const;
export type Size = keyof typeof SIZES;

/**
 * How many agents a host serves and a caller knows; the calls go to each of them in turn. For the codec alone that changes
 * the address in each message and nothing else: it looks nobody up, and must not take longer for it. The halves do.
 */
export const CROWDS = [4, 32, 256, 1_024] as const;

/** The work of one call of an arm. */
export type Work =
  /** The text of the codec, parsed and written again: the floor. */
  | "json"
  /** The codec alone: a message to its text, and back. */
  | "codec"
  /** The bytes of a request, parsed and written again. */
  | "json bytes"
  /** The bytes of a request and of its answer, parsed and written again. */
  | "json both"
  /** The client half writes a request, the server half reads it: from envelope to envelope. */
  | "one way"
  /** The client half alone: writes a request, reads its answer. */
  | "client"
  /** The server half alone: reads a request, writes its answer. */
  | "server"
  /** Both halves: a request there, an answer back. */
  | "round trip";

/** The parameters of an arm: protocol, size, number of agents. */
export interface Scene {
  readonly protocol: string;
  readonly size: Size;
  readonly agents: number;
}

/** A protocol that can be measured. */
export interface Registered {
  readonly id: string;
  readonly hasCodec: boolean;
  /** Whether its halves can be called without an identity. Otherwise only its codec is measured. */
  readonly hasHalves: boolean;
}

export interface Order {
  readonly scene: Scene;
  readonly work: Work;
  /** CPU time: of this measurement, and of the calls before the first one. */
  readonly ms: number;
  readonly warmUpMs: number;
}

/** A sentence without a character that JSON has to escape, as long as is wanted. */
export function prose(length: number): string {
  const sentence = "Please translate the following sentence into French and keep the tone polite. ";
  return sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length);
}
