import type { Chunk } from "../transport/exchange.js";
import { demand } from "./check.js";

/** One server-sent event as received. */
export interface Frame {
  readonly event: string;
  readonly data: string;
  /** How many `data:` lines it took. */
  readonly dataLines: number;
  /** Lines that are neither a field of server-sent events nor a comment. */
  readonly unknownLines: readonly string[];
}

const LINE_CHARACTERS = 8 * 1024 * 1024;

/** Splits a body into server-sent events (WHATWG HTML §9.2). Comments are dropped. An event must end with a blank line. */
export async function* readFrames(chunks: AsyncIterable<Chunk>): AsyncGenerator<Frame> {
  let lines: string[] = [];
  for await (const line of readLines(chunks)) {
    if (line !== "") lines.push(line);
    else if (lines.length > 0) {
      const frame = toFrame(lines);
      lines = [];
      if (frame.dataLines > 0 || frame.unknownLines.length > 0) yield frame;
    }
  }
  demand(
    lines.every((line) => line.startsWith(":")),
    `the stream ends inside an event: ${lines.join("⏎").slice(0, 200)}`,
  );
}

async function* readLines(chunks: AsyncIterable<Chunk>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    rest += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    demand(rest.length <= LINE_CHARACTERS, `one line of the stream is longer than ${LINE_CHARACTERS} characters`);
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
  // A final carriage return ends a line without a line feed.
  if (rest.endsWith("\r")) yield rest.slice(0, -1);
  else if (rest !== "") yield rest;
}

function toFrame(lines: readonly string[]): Frame {
  let event = "message";
  const data: string[] = [];
  const unknownLines: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") data.push(value);
    else if (name === "event") event = value;
    else if (name !== "" && name !== "id" && name !== "retry") unknownLines.push(line);
  }
  return { event, data: data.join("\n"), dataLines: data.length, unknownLines };
}
