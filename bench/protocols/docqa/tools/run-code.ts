import { existsSync } from "node:fs";
import { constants } from "node:os";
import { CONFINE_LIMITS, type ConfineLimits, confine, type Ended } from "./confine.js";
import { ToolError, type ToolFailure } from "./tool.js";

/** Its name until Node 22. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has("--permission") ? "--permission" : "--experimental-permission";

export type Language = "javascript" | "python";

export interface CodeTask {
  readonly language: Language;
  readonly code: string;
  readonly input: string;
}

const PYTHON = "/usr/bin/python3";
const SHOWN_CHARS = 300;
const HEAP_MB = 128;

/** Files and processes are refused by Node too, before they reach the namespaces. */
const NODE_ARGS = [
  "--no-warnings",
  // The namespace has no network: its refusals are the same in every version.
  ...(process.allowedNodeEnvironmentFlags.has("--allow-net") ? ["--allow-net"] : []),
  PERMISSION,
  "--allow-fs-read=/folder/*",
  "--allow-fs-write=/folder/*",
  `--max-old-space-size=${HEAP_MB}`,
  "--input-type=commonjs",
];

/** Runs a program and gives what it printed. Throws ToolError with the reason if it failed or was stopped. */
export async function runCode(
  { language, code, input }: CodeTask,
  { limits = CONFINE_LIMITS, signal }: { readonly limits?: ConfineLimits; readonly signal?: AbortSignal | undefined } = {},
): Promise<string> {
  if (language === "python" && !existsSync(PYTHON))
    throw new ToolError("unavailable", `python_execute needs ${PYTHON}, which is not installed`);
  const [runtime, args] =
    language === "python" ? [PYTHON, ["-I", "/folder/program"]] : [process.execPath, [...NODE_ARGS, "/folder/program"]];
  const ended = await confine({ runtime, args, code, input }, limits, signal);
  const reason = failureOf(ended);
  if (reason === undefined) return ended.stdout.trim();
  throw new ToolError(reason, `${WORDS[reason] ?? "the program failed"}: ${lastWords(ended)}`);
}

const WORDS: Readonly<Partial<Record<ToolFailure, string>>> = {
  time: "stopped after its time was over",
  cpu: "stopped at the limit of CPU time",
  memory: "stopped at the limit of memory",
  output: "stopped because it printed too much",
  file_size: "stopped at the limit of file size",
  processes: "may not start so many processes",
  network: "has no network",
  files: "has no files but those of its folder",
};

/** What programs print when they meet a limit, the most telling first. */
const SIGNS: readonly (readonly [ToolFailure, RegExp])[] = [
  ["file_size", /EFBIG|ENOSPC|File too large|No space left/i],
  ["network", /ENETUNREACH|EAI_AGAIN|ENOTFOUND|Network is unreachable|name resolution/i],
  ["processes", /permission: 'ChildProcess'|permission: 'WorkerThreads'|EAGAIN|Cannot fork|Resource temporarily unavailable/i],
  [
    "memory",
    /heap out of memory|Array buffer allocation failed|Failed to allocate memory|MemoryError|ENOMEM|Cannot allocate memory/i,
  ],
  ["files", /permission: 'FileSystem|ENOENT|EACCES|EPERM|EROFS|Permission denied|Read-only file system|No such file/i],
];

/** Signals of the kernel, with the 128 of a shell. The last one is the hard limit of CPU time: nothing else in there kills. */
const SIGNALS: ReadonlyMap<number | null, ToolFailure> = new Map([
  [128 + constants.signals.SIGXFSZ, "file_size"],
  [128 + constants.signals.SIGXCPU, "cpu"],
  [128 + constants.signals.SIGKILL, "cpu"],
]);

/** Why a program gave no result; undefined: it did. */
export function failureOf({ status, stderr, stopped }: Ended): ToolFailure | undefined {
  if (stopped === undefined && status === 0) return undefined;
  const sign = SIGNS.find(([, pattern]) => pattern.test(stderr));
  if (sign !== undefined) return sign[0];
  return stopped ?? SIGNALS.get(status) ?? "failed";
}

function lastWords({ stderr, status }: Ended): string {
  const line = /^.*(?:Error|error|E[A-Z]{3,}).*$/m.exec(stderr)?.[0] ?? stderr.trim().split("\n").at(-1) ?? "";
  return (line.trim() === "" ? `exit code ${status}` : line.trim()).slice(0, SHOWN_CHARS);
}
