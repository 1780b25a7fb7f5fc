import { once } from "node:events";
import pc from "picocolors";
import type { Json } from "../../src/index.js";
import type { Problem } from "./exit.js";
import { printable } from "./printable.js";

export const FORMATS = ["text", "json"] as const;
export type Format = (typeof FORMATS)[number];

/** The streams a command writes to: those of the process, or those of a test. */
export interface Streams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
}

/** Data goes to stdout, messages to stderr; nothing else writes to either. */
export interface Output extends Streams {
  readonly format: Format;
  readonly colors: ReturnType<typeof pc.createColors>;
  /** Data as text; on a terminal without control characters. */
  text(text: string): Promise<void>;
  /** One document of plain data, indented. */
  document(value: Json | object): Promise<void>;
  /** One of many documents, on one line. */
  line(value: Json | object): Promise<void>;
  /** A message on stderr. */
  say(text: string): void;
}

export function createOutput(format: Format, streams: Streams = process): Output {
  const { stdout, stderr } = streams;
  const write = async (text: string): Promise<void> => {
    // Backpressure: wait for a slow reader instead of buffering.
    if (!stdout.write(text)) await once(stdout, "drain");
  };
  return {
    stdout,
    stderr,
    format,
    colors: pc.createColors(stderr.isTTY === true && pc.isColorSupported),
    text: (text) => write(stdout.isTTY === true ? printable(text) : text),
    document: (value) => write(`${JSON.stringify(value, undefined, 2)}\n`),
    line: (value) => write(`${JSON.stringify(value)}\n`),
    say: (text) => void stderr.write(`${text}\n`),
  };
}

/** A problem on stderr: a sentence and what to do, or both as JSON. */
export function sayProblem({ code, face, message, hint, details }: Problem, output: Output): void {
  if (output.format === "json") {
    output.say(JSON.stringify({ error: { code, face, message, hint, details } })); // without members that are undefined
    return;
  }
  const { colors } = output;
  output.say(`${colors.red("error:")} ${printable(message)}`);
  if (hint !== undefined) output.say(`${colors.dim("hint:")} ${printable(hint)}`);
}
