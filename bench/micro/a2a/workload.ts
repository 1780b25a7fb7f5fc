/** The workload of every arm: the same bytes in, the same work, about the same bytes out. */

/** Stands at the end of the text, so that only a whole answer holds it. */
export const MARKER = "and-this-is-the-end-of-the-message";
/** The placeholder of the number in the message id. */
export const COUNTER = "0000000000";
/** Two hundred bytes; with its frame the message is about three hundred. */
export const TEXT = `${"Please translate the following sentence into French and keep the tone polite. ".repeat(3).slice(0, 200 - MARKER.length)}${MARKER}`;

export const CONNECTIONS = 16;
/** Task, working, the chunks, completed. */
export const STREAM_EVENTS = 20;
export const STREAM_CHUNKS = STREAM_EVENTS - 3;
/**
 * Open before the memory of streams is measured. After fewer, what grows once would be measured: the compiler, and the young generation of
 * the heap, which a server that keeps less of each stream has full later.
 */
export const WARM_STREAMS = 2000;
/** Many: of a thousand, the resident memory of the same server differs by half. */
export const MEASURED_STREAMS = 4000;
/** No server closes a connection while the others have their turns, however busy the machine is. */
export const IDLE_MS = 600_000;

/**
 * The modes of the served agent: answer at once, create a task with one artifact, stream twenty events, stream as many in one burst, hold a
 * stream open, or hold streams and answer everything else at once.
 */
export type Mode = "reply" | "task" | "stream" | "burst" | "hold" | "reply or hold";

/** What a server of ours keeps beyond its defaults: tasks, and open streams of one caller. */
export interface Room {
  readonly keep?: number;
  readonly streams?: number;
}

/** Where a server of the bench listens. */
export interface ServerAddress {
  readonly url: string;
  readonly port: number;
  readonly rpcPath: string;
  readonly restPath: string;
}

/** The sizes that the floor must match, as measured on a real arm. */
export interface Shape {
  readonly rpcBytes: number;
  readonly restBytes: number;
  readonly taskBytes: number;
  /** The data of each server-sent event. */
  readonly eventBytes: readonly number[];
}

export interface StartServer {
  readonly mode: Mode;
  /** The floor's alone. */
  readonly shape?: Shape;
  readonly room?: Room | undefined;
}

/** A2A 1.0 §4.1.4 on JSON-RPC (§9) and on REST (§11). */
export const HEADERS = { "Content-Type": "application/json", "A2A-Version": "1.0" } as const;

export function rpcBody(method: "SendMessage" | "SendStreamingMessage"): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { message: wireMessage() } });
}

export function restBody(): string {
  return JSON.stringify({ message: wireMessage() });
}

function wireMessage() {
  return { messageId: `bench-message-${COUNTER}`, role: "ROLE_USER", parts: [{ text: TEXT }] };
}

/** The same id in every client arm: as wide as the load's. */
export function messageId(number: number): string {
  return `bench-message-${String(number).padStart(COUNTER.length, "0")}`;
}

/**
 * An agent's events come one by one, not all in one turn of the event loop; otherwise they would leave in one packet and
 * the bench would measure a long answer instead of a stream.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
