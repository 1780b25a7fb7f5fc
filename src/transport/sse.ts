import { AgentError, type Maybe } from "../envelope/index.js";
import type { Chunk } from "./exchange.js";

/** One server-sent event, as the HTML standard §9.2.6 dispatches it. */
export interface SseEvent {
  readonly data: string;
  /** The last event id so far: it stays until the peer sends another. */
  readonly id: Maybe<string>;
  readonly event: Maybe<string>;
  /** The reconnection time sent with this event, in milliseconds. */
  readonly retry: Maybe<number>;
}

/** A comment, which readers ignore; keeps proxies and timers from closing the connection. */
export const SSE_COMMENT = ":\n\n";

/** Encodes one event. Compact JSON has no line ends, so it is one `data:` line. */
export function encodeSse(data: string, id?: string, event?: string): string {
  const head = (event === undefined ? "" : `event: ${oneLine(event)}\n`) + (id === undefined ? "" : `id: ${oneLine(id)}\n`);
  if (!data.includes("\n") && !data.includes("\r")) return `${head}data: ${data}\n\n`;
  return `${head}data: ${data.replace(/\r\n|\r|\n/g, "\ndata: ")}\n\n`;
}

/** Encodes one event with this id. */
export type EncodeSse = (data: string, id?: string) => string;

/** The same for data that has no line ends, and neither do the texts around it. */
export function sseLineEncoder(before = "", after = ""): EncodeSse {
  const start = `data: ${before}`;
  const startAfterId = `\n${start}`;
  const end = `${after}\n\n`;
  return (data, id) => (id === undefined ? `${start}${data}${end}` : `id: ${oneLine(id)}${startAfterId}${data}${end}`);
}

export const encodeSseLine = sseLineEncoder();

/** A line end inside a field would start another field; NUL would make readers ignore the id. */
function oneLine(value: string): string {
  if (!/[\r\n\0]/.test(value)) return value;
  throw new AgentError("encode", "an event's id and name must not contain line ends or NUL", { sent: "no" });
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const EMPTY = new Uint8Array(0);
const BOM = [0xef, 0xbb, 0xbf] as const;
// Lines are split between complete characters, so each line is decoded on its own; an invalid byte reads as U+FFFD.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();
/** Others are ignored. The most frequent first. */
const FIELDS = ["data", "id", "event", "retry"] as const;
type Field = (typeof FIELDS)[number];
const LONGEST_NAME = 5;

/** The field of a line. Compared as bytes: decoding a name costs as much as decoding the rest of its line. */
function fieldAt(bytes: Uint8Array, start: number, nameEnd: number): Maybe<Field> {
  for (const name of FIELDS) {
    if (nameEnd - start !== name.length) continue;
    let index = 0;
    while (index < name.length && bytes[start + index] === name.charCodeAt(index)) index++;
    if (index === name.length) return name;
  }
  return undefined;
}

/**
 * Parses server-sent events incrementally, however the chunks are cut. Works on bytes and decodes complete lines. The size of one event
 * is bounded.
 */
export class SseReader {
  readonly #maxEventBytes: number;
  /** The incomplete last line: one buffer that doubles, because a peer may send byte by byte. */
  #rest = EMPTY;
  #restBytes = 0;
  #eventBytes = 0;
  #afterCr = false;
  #bomSeen = 0;
  #data: string | undefined;
  #id: string | undefined;
  #event: string | undefined;
  #retry: number | undefined;

  constructor(maxEventBytes: number) {
    this.#maxEventBytes = maxEventBytes;
  }

  /** The id to send when reconnecting. */
  get lastId(): Maybe<string> {
    return this.#id;
  }

  /** Parses the next bytes and emits each completed event. Throws AgentError `too_large`. */
  push(chunk: Uint8Array, emit: (event: SseEvent) => void): void {
    let start = this.#bomSeen === BOM.length ? 0 : this.#skipBom(chunk);
    if (this.#afterCr && start < chunk.length) {
      this.#afterCr = false;
      if (chunk[start] === LF) start++;
    }
    let cr = chunk.indexOf(CR, start);
    while (start < chunk.length) {
      if (cr !== -1 && cr < start) cr = chunk.indexOf(CR, start);
      const lf = chunk.indexOf(LF, start);
      const end = cr !== -1 && (lf === -1 || cr < lf) ? cr : lf;
      if (end === -1) break;
      if (this.#restBytes === 0) this.#line(chunk, start, end, emit);
      else this.#joinedLine(chunk, start, end, emit);
      start = end + 1;
      if (end !== cr) continue;
      if (start === chunk.length) this.#afterCr = true;
      else if (chunk[start] === LF) start++;
    }
    if (start < chunk.length) this.#keepRest(chunk, start);
  }

  /** End of stream: an incomplete event is discarded, as the standard requires. */
  end(): void {
    this.#rest = EMPTY;
    this.#restBytes = 0;
    this.#forget();
  }

  /** Skips a byte order mark at the start, also when it is split. */
  #skipBom(chunk: Uint8Array): number {
    let index = 0;
    while (index < chunk.length && this.#bomSeen < BOM.length) {
      if (chunk[index] !== BOM[this.#bomSeen]) {
        const earlier = this.#bomSeen - index;
        if (earlier > 0) this.#keepRest(Uint8Array.from(BOM.slice(0, earlier)), 0);
        this.#bomSeen = BOM.length;
        return 0;
      }
      this.#bomSeen++;
      index++;
    }
    return index;
  }

  #keepRest(chunk: Uint8Array, start: number): void {
    const length = this.#restBytes + chunk.length - start;
    this.#bound(length);
    if (length > this.#rest.length) {
      const larger = new Uint8Array(Math.max(length, this.#rest.length * 2));
      larger.set(this.#rest.subarray(0, this.#restBytes));
      this.#rest = larger;
    }
    this.#rest.set(start === 0 ? chunk : chunk.subarray(start), this.#restBytes);
    this.#restBytes = length;
  }

  /** A line that began in an earlier chunk. */
  #joinedLine(chunk: Uint8Array, start: number, end: number, emit: (event: SseEvent) => void): void {
    if (end > start) this.#keepRest(chunk.subarray(0, end), start);
    const [line, length] = [this.#rest, this.#restBytes];
    this.#rest = EMPTY;
    this.#restBytes = 0;
    this.#line(line, 0, length, emit);
  }

  #bound(more: number): void {
    if (this.#eventBytes + more <= this.#maxEventBytes) return;
    throw new AgentError("too_large", `one server-sent event is longer than ${this.#maxEventBytes} bytes`);
  }

  #line(bytes: Uint8Array, start: number, end: number, emit: (event: SseEvent) => void): void {
    if (end === start) {
      this.#dispatch(emit);
      return;
    }
    this.#bound(end - start);
    if (bytes[start] === COLON) return;
    this.#eventBytes += end - start;
    let nameEnd = start;
    while (nameEnd < end && nameEnd - start <= LONGEST_NAME && bytes[nameEnd] !== COLON) nameEnd++;
    const field = fieldAt(bytes, start, nameEnd);
    if (field === undefined) return;
    const value = bytes[nameEnd + 1] === SPACE ? nameEnd + 2 : nameEnd + 1;
    this.#field(field, value < end ? decoder.decode(bytes.subarray(value, end)) : "");
  }

  #field(name: Field, value: string): void {
    switch (name) {
      case "data":
        this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
        return;
      case "id":
        if (!value.includes("\0")) this.#id = value;
        return;
      case "event":
        this.#event = value;
        return;
      case "retry":
        if (/^[0-9]{1,9}$/.test(value)) this.#retry = Number(value);
        return;
      default:
        name satisfies never;
    }
  }

  /** An empty line ends the event. Without data nothing is dispatched, but its id stays. */
  #dispatch(emit: (event: SseEvent) => void): void {
    const data = this.#data;
    const event = this.#event === "" ? undefined : this.#event;
    const retry = this.#retry;
    this.#forget();
    if (data !== undefined) emit({ data, id: this.#id === "" ? undefined : this.#id, event, retry });
  }

  #forget(): void {
    this.#eventBytes = 0;
    this.#data = undefined;
    this.#event = undefined;
    this.#retry = undefined;
  }
}

/** The events of a response body. Stopping early also stops the body. */
export async function* sseEvents(chunks: AsyncIterable<Chunk>, maxEventBytes: number): AsyncGenerator<SseEvent, void, undefined> {
  const reader = new SseReader(maxEventBytes);
  let ready: SseEvent[] = [];
  const emit = (event: SseEvent): void => void ready.push(event);
  for await (const chunk of chunks) {
    reader.push(typeof chunk === "string" ? encoder.encode(chunk) : chunk, emit);
    if (ready.length === 0) continue;
    const events = ready;
    ready = [];
    for (const event of events) yield event;
  }
  reader.end();
}
