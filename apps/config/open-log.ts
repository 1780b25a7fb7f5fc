import { open } from "node:fs/promises";
import { resolve } from "node:path";
import type { Maybe } from "../../src/index.js";
import { jsonLines, type LogLine, type LogSink } from "../../src/public/telemetry.js";

/** Where the log goes, which lines it has and how they look. */
export interface LogSettings {
  /** Default: none. */
  readonly log?: Maybe<"none" | "stderr" | { readonly file: string }>;
  /** `warn`: only what needs attention. Default: info. */
  readonly logLevel?: Maybe<"info" | "warn">;
  /** One JSON object per line, or text for people. Default: json. */
  readonly logFormat?: Maybe<"json" | "text">;
}

/** Limit of buffered log lines. */
const LOG_WAITING_BYTES = 4 * 1024 * 1024;

export interface OpenLog {
  readonly sink: LogSink;
  close(): unknown;
}

/** The log as configured; undefined if it is off. A file is relative to the folder. */
export async function openLog(settings: LogSettings, folder: string): Promise<Maybe<OpenLog>> {
  const { log = "none", logFormat = "json", logLevel = "info" } = settings;
  if (log === "none") return undefined;
  const { write, close } = log === "stderr" ? STDERR : await openFile(resolve(folder, log.file));
  const lines = logFormat === "text" ? textLines(write) : jsonLines(write);
  return { sink: logLevel === "warn" ? warningsOf(lines) : lines, close };
}

interface Output {
  write(text: string): void;
  close(): unknown;
}

const STDERR: Output = { write: (text) => void process.stderr.write(text), close: () => undefined };

async function openFile(path: string): Promise<Output> {
  const file = await open(path, "a", 0o600);
  const stream = file.createWriteStream();
  // A full or slow disk must not stop calls: log lines are dropped.
  stream.on("error", () => undefined);
  return {
    write: (text) => void (stream.writableLength < LOG_WAITING_BYTES && stream.write(text)),
    close: () => new Promise<void>((done) => stream.end(() => done())),
  };
}

function warningsOf(sink: LogSink): LogSink {
  return (line) => {
    if (line.level === "warn") sink(line);
  };
}

/** Lines for people: what the message does not say follows it as `name=value`. Values are JSON where they are not plain words. */
function textLines(write: (text: string) => void): LogSink {
  return ({ time, level, event, message, src_agent, ...facts }: LogLine) => {
    const rest = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${plain(value)}`]));
    write(`${[time, level.toUpperCase().padEnd(4), event, oneLine(message), ...rest].join(" ")}\n`);
  };
}

function plain(value: unknown): string {
  return typeof value === "string" && /^[\w./@:-]+$/.test(value) ? value : JSON.stringify(value);
}

/** A message may quote a peer: control characters are escaped. */
function oneLine(text: string): string {
  return /[\p{Cc}\p{Cf}]/u.test(text) ? JSON.stringify(text) : text;
}
