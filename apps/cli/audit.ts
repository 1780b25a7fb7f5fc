import { stat } from "node:fs/promises";
import type { Json } from "../../src/index.js";
import { type AuditEntry, type AuditEvent, auditFiles, readAuditLines, verifyAudit } from "../../src/public/auth.js";
import { openTail } from "./audit-follow.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { listenForInterrupt } from "./interrupt.js";
import { createOutput, type Format, type Output } from "./output.js";
import { oneLine } from "./printable.js";

interface AuditOptions {
  readonly output: Format;
  readonly follow?: boolean;
  /** Milliseconds since the epoch. */
  readonly since?: number;
  readonly who?: string;
  readonly event?: AuditEvent;
  readonly verify?: boolean;
}

export async function readAudit(path: string, options: AuditOptions): Promise<void> {
  if (options.verify === true && options.follow === true)
    throw usageError("--verify looks at what is there; --follow waits for more");
  const output = createOutput(options.output);
  const files = await filesOf(path);
  if (options.verify === true) return verify(files, output);
  if (options.follow === true) return follow(path, options, output);
  await writeLines(files, options, output);
}

async function writeLines(files: readonly string[], options: AuditOptions, output: Output): Promise<void> {
  for await (const { entry, file, number } of readAuditLines(files)) {
    if (entry === undefined) output.say(output.colors.yellow(`${file}, line ${number}: cannot be read`));
    else if (isWanted(entry, options)) await write(entry, output);
  }
}

/** The newest file is held from the start on, so that nothing is missed between reading and waiting. */
async function follow(path: string, options: AuditOptions, output: Output): Promise<void> {
  const interrupt = listenForInterrupt();
  const tail = await openTail(path);
  try {
    await writeLines(await tail.without(await filesOf(path)), options, output);
    for await (const entry of tail.entries(interrupt.signal)) if (isWanted(entry, options)) await write(entry, output);
  } finally {
    interrupt.stop();
    await tail.close();
  }
}

async function filesOf(path: string): Promise<readonly string[]> {
  const files = await auditFiles(path).catch(() => []);
  const [first] = files;
  const facts = first === undefined ? undefined : await stat(first).catch(() => undefined);
  if (facts?.isFile() !== true) throw usageError(`there is no audit log at ${path}`, "`koine serve --audit FILE` writes one.");
  return files;
}

async function verify(files: readonly string[], output: Output): Promise<void> {
  const verdict = await verifyAudit(readAuditLines(files));
  const { entries, torn, breaks, fromTheBeginning, head } = verdict;
  if (output.format === "json") await output.document({ ...verdict, files, whole: breaks.length === 0 });
  else {
    const start = fromTheBeginning ? "from the first line ever written" : "older lines were put aside and are gone";
    await output.text(`${entries} lines in ${files.length} ${files.length === 1 ? "file" : "files"}; ${start}\n`);
    if (torn > 0) await output.text(`${torn} lines cannot be read: cut off by a crash, or not written by Koine\n`);
    await output.text(`head ${head}\n`);
  }
  const [first] = breaks;
  if (first !== undefined)
    throw new CliError(
      EXIT.failure,
      `the chain is broken at ${breaks.length} places, first at ${first.file}, line ${first.line}`,
      {
        code: "audit_broken",
        hint: "A line before that one was removed, changed or added after it was written.",
      },
    );
}

function isWanted(entry: AuditEntry, { since, who, event }: AuditOptions): boolean {
  if (since !== undefined && !(Date.parse(entry.at) >= since)) return false;
  return (who === undefined || entry.who === who) && (event === undefined || entry.event === event);
}

async function write(entry: AuditEntry, output: Output): Promise<void> {
  if (output.format === "json")
    await output.line(entry as unknown as Json); // it was read as JSON
  else await output.text(`${describe(entry)}\n`);
}

function describe({ at, event, who, scheme, what, code, reason, remote, traceId, agent, calls }: AuditEntry): string {
  const name = scheme === undefined ? who : `${who} (${scheme})`;
  const why = [code, reason].filter((each) => each !== undefined).join(": ");
  const facts = [
    remote === undefined ? "" : `from ${remote}`,
    agent === undefined ? "" : `agent ${agent}`,
    traceId === undefined ? "" : `trace ${traceId}`,
    calls === undefined ? "" : `${calls} calls`,
  ].filter((each) => each !== "");
  const rest = [`${name} ${what}`, why, ...facts].filter((each) => each !== "").join("; ");
  return `${oneLine(at, 30)}  ${oneLine(event, 20).padEnd(13)}  ${oneLine(rest, 4_000)}`;
}
