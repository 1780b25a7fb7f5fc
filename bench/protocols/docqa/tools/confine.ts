import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "./tool.js";

/** What a confined program may use. */
export interface ConfineLimits {
  readonly wallMs: number;
  readonly cpuS: number;
  /** Memory that it can write to. */
  readonly memoryBytes: number;
  /** The largest file; all files together are limited by `folderBytes`. */
  readonly fileBytes: number;
  readonly folderBytes: number;
  readonly processes: number;
  readonly outputBytes: number;
  readonly codeBytes: number;
}

export const CONFINE_LIMITS: ConfineLimits = {
  wallMs: 10_000,
  cpuS: 5,
  // Node 24 does not start with half of it.
  memoryBytes: 1024 * 1024 * 1024,
  fileBytes: 8 * 1024 * 1024,
  folderBytes: 16 * 1024 * 1024,
  processes: 64,
  outputBytes: 64 * 1024,
  codeBytes: 64 * 1024,
};

/** A program to confine. It finds its code in the file `program` of its folder, and itself as `/runtime`. */
export interface Confined {
  /** The executable, which is made visible as `/runtime`. */
  readonly runtime: string;
  readonly args: readonly string[];
  readonly code: string;
  readonly input: string;
}

export interface Ended {
  /** As a shell gives it: above 128 the number of a signal is added. Null: stopped from outside. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Set if it was stopped from outside. */
  readonly stopped?: "time" | "output";
}

/**
 * Makes a root of its own: system folders to read, an empty folder in memory to work in, nothing else. Runs in the new namespaces, so that
 * nothing of it is seen outside, and nothing is left when it ends. The shell stays the first process of the namespace: signals would not
 * end the program there. Arguments: an empty folder, the runtime, the size of the folder, the program.
 */
const SETUP = `set -e
root=$1; runtime=$2; size=$3; shift 3
mount -t tmpfs -o size=4m,mode=755 root "$root"
cd "$root"
mkdir usr folder old proc dev
for each in bin sbin lib lib64 lib32 libx32; do
  if [ -L "/$each" ]; then cp -P "/$each" "$each"
  elif [ -d "/$each" ]; then mkdir "$each"; mount --rbind "/$each" "$each"; mount -o remount,bind,ro "$each"; fi
done
mount --rbind /usr usr
mount -o remount,bind,ro usr
touch dev/null dev/urandom runtime
mount --bind /dev/null dev/null
mount --bind /dev/urandom dev/urandom
mount --bind "$runtime" runtime
mount -t proc proc proc
mount -t tmpfs -o "size=$size,mode=777" folder folder
cat <&3 >folder/program
exec 3<&-
pivot_root . old
umount -l /old
rmdir /old
mount -o remount,bind,ro /
cd /folder
"$@" || exit $?
`;

/** Users of their own, so that processes are counted for each program alone. */
const FIRST_UID = 1_900_000_000;

/** Why programs cannot be confined on this machine; undefined: they can. Asked once. */
export function confineProblem(): string | undefined {
  known ??= { problem: findProblem() };
  return known.problem;
}

let known: { readonly problem: string | undefined } | undefined;

function findProblem(): string | undefined {
  if (process.platform !== "linux") return `running code needs the namespaces of Linux, and this is ${process.platform}`;
  const folder = mkdtempSync(join(tmpdir(), "koine-confine-"));
  // An empty program. Nobody would end a pipe: the program would be waited for until the timeout.
  const program = openSync("/dev/null", "r");
  try {
    const [command, ...args] = commandLine(folder, { runtime: process.execPath, args: ["--version"] }, CONFINE_LIMITS);
    const { status, stderr, error } = spawnSync(command ?? "", args, {
      stdio: ["ignore", "pipe", "pipe", program],
      env: {},
      timeout: 20_000,
    });
    if (status === 0) return undefined;
    const detail = error?.message ?? String(stderr).trim().split("\n").at(-1) ?? "";
    return `running code needs namespaces (unshare, setpriv and prlimit of util-linux), which are not available here: ${detail.slice(0, 200)}`;
  } finally {
    closeSync(program);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a program without network, with files of its own, under limits. Throws ToolError if that cannot be had: it never runs otherwise. */
export async function confine(program: Confined, limits: ConfineLimits = CONFINE_LIMITS, signal?: AbortSignal): Promise<Ended> {
  const problem = confineProblem();
  if (problem !== undefined) throw new ToolError("unavailable", problem);
  if (Buffer.byteLength(program.code) > limits.codeBytes)
    throw new ToolError("invalid", `the program is longer than ${limits.codeBytes} bytes`);
  const folder = mkdtempSync(join(tmpdir(), "koine-confine-"));
  try {
    const [command = "", ...args] = commandLine(folder, program, limits);
    // Nothing of our environment: it may hold keys.
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe", "pipe"], env: {}, cwd: "/" });
    return await watch(child, program, limits, signal);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function commandLine(
  folder: string,
  { runtime, args }: Pick<Confined, "runtime" | "args">,
  limits: ConfineLimits,
): readonly string[] {
  const isRoot = process.getuid?.() === 0;
  const uid = String(FIRST_UID + process.pid);
  return [
    "/usr/bin/setpriv",
    // It ends with the agent that started it, however that ends.
    "--pdeathsig=KILL",
    "/usr/bin/unshare",
    ...(isRoot ? [] : ["--user", "--map-root-user"]),
    ...["--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child", "--mount-proc"],
    ...["/bin/sh", "-c", `PATH=/usr/sbin:/usr/bin:/sbin:/bin; ${SETUP}`, "confine", folder, runtime, String(limits.folderBytes)],
    ...["/usr/bin/setpriv", ...(isRoot ? [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"] : [])],
    ...["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"],
    ...["/usr/bin/prlimit", `--cpu=${limits.cpuS}`, `--data=${limits.memoryBytes}`, `--fsize=${limits.fileBytes}`],
    ...[`--nproc=${limits.processes}`, "--core=0", "--nofile=128"],
    ...["/runtime", ...args],
  ];
}

function watch(
  child: ChildProcess,
  { code, input }: Confined,
  limits: ConfineLimits,
  signal: AbortSignal | undefined,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let stopped: Ended["stopped"];
    const stop = (why: Ended["stopped"]): void => {
      stopped ??= why;
      child.kill("SIGKILL");
    };
    const timer = setTimeout(() => stop("time"), limits.wallMs);
    const abort = (): void => stop("time");
    signal?.addEventListener("abort", abort, { once: true });
    let bytes = 0;
    const texts = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name]?.setEncoding("utf8").on("data", (text: string) => {
        bytes += Buffer.byteLength(text);
        if (bytes > limits.outputBytes) return stop("output");
        texts[name] += text;
      });
    const program = child.stdio[3];
    for (const pipe of [child.stdin, program]) pipe?.on("error", () => undefined);
    if (program !== null && program !== undefined && "end" in program) program.end(code);
    child.stdin?.end(input);
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    child.on("error", (error) => {
      done();
      reject(new ToolError("unavailable", `the program could not be started: ${error.message}`));
    });
    child.on("close", (status) => {
      done();
      resolve({ status, ...texts, ...(stopped === undefined ? {} : { stopped }) });
    });
  });
}
