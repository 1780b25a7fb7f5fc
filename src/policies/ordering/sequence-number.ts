import { AgentError, type Envelope, isObject, type Maybe } from "../../envelope/index.js";

/** The metadata member with the number of a message; every protocol carries metadata. */
export const SEQUENCE_KEY = "koine.sequence";

/** The position of a message in its sequence. */
export interface SequenceNumber {
  /** Created by each sender for each session or trace, so that two senders, or one that was restarted, never mix. */
  readonly stream: string;
  /** Counts from 1. */
  readonly number: number;
}

const MAX_STREAM_LENGTH = 128;

/** The number of a message. An invalid member is rejected: its sender expects an order. */
export function sequenceNumberOf({ metadata }: Envelope): Maybe<SequenceNumber> {
  const value = metadata?.[SEQUENCE_KEY];
  if (value === undefined) return undefined;
  if (isObject(value)) {
    const { stream, number } = value;
    if (typeof stream === "string" && stream !== "" && stream.length <= MAX_STREAM_LENGTH && isPosition(number))
      return { stream, number };
  }
  throw new AgentError("invalid_message", `metadata["${SEQUENCE_KEY}"]: must be { stream, number }, counted from 1`, {
    field: `message.metadata["${SEQUENCE_KEY}"]`,
  });
}

export function withSequenceNumber(envelope: Envelope, { stream, number }: SequenceNumber): Envelope {
  return { ...envelope, metadata: { ...envelope.metadata, [SEQUENCE_KEY]: { stream, number } } };
}

function isPosition(number: unknown): number is number {
  return Number.isSafeInteger(number) && (number as number) >= 1; // isSafeInteger narrows nothing
}
