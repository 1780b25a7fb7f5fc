import type { Window } from "../../harness/tally.js";
import { prose } from "../codecs/workload.js";

/** The workload of every arm. */

/** One way of sending messages over a session and getting each back. */
export interface EchoCase {
  /** Begins the published keys. */
  readonly key: string;
  readonly title: string;
  /** Length of a text message. */
  readonly bytes: number;
  /** Messages sent on the one session that are not answered yet. */
  readonly inFlight: number;
  /** Before anything is counted: in sum so many that every server is compiled as well as it ever will be. */
  readonly warmUpMessages: number;
}

const SMALL = 300;
const LARGE = 64 * 1024;
const MANY = 8;

export const ECHO_CASES: readonly EchoCase[] = [
  { key: "session_echo_300b", title: "messages of 300 bytes, one at a time", bytes: SMALL, inFlight: 1, warmUpMessages: 2_500 },
  {
    key: "session_echo_300b_8",
    title: "messages of 300 bytes, eight in flight",
    bytes: SMALL,
    inFlight: MANY,
    warmUpMessages: 20_000,
  },
  { key: "session_echo_64kb", title: "messages of 64 KB, one at a time", bytes: LARGE, inFlight: 1, warmUpMessages: 600 },
  { key: "session_echo_64kb_8", title: "messages of 64 KB, eight in flight", bytes: LARGE, inFlight: MANY, warmUpMessages: 600 },
];

export interface StartWsEcho {
  readonly unread: boolean;
}

/** What the load process does on an open connection. */
export interface EchoOrder extends Pick<EchoCase, "bytes" | "inFlight"> {
  readonly window: Window;
}

/** The last digits of a message are its number. */
const NUMBER_WIDTH = 10;

/** A text message without a number. */
export function blankMessage(bytes: number): Buffer {
  return Buffer.from(prose(bytes - NUMBER_WIDTH) + "0".repeat(NUMBER_WIDTH));
}

/** In place, so that no two messages are equal and a late answer is not taken for another. */
export function numberMessage(message: Buffer, number: number): void {
  let rest = number;
  for (let index = message.length - 1; index >= message.length - NUMBER_WIDTH; index--) {
    message[index] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}
