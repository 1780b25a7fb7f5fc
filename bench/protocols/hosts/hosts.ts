import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { promisify } from "node:util";

/** One host: a network namespace with addresses of its own. */
export interface Host {
  /** Written before a command line to run it on this host. */
  readonly within: readonly string[];
  /** Its address on the wire to the caller; loopback for the host of the caller itself. */
  readonly address: string;
}

/** The caller's host and at least one for agents. */
export const LEAST_HOSTS = 2;
export const MOST_HOSTS = 9;
const LOOPBACK = "127.0.0.1";
/** The namespaces are connected to nothing but each other, so these addresses meet no others. */
const NETWORK = "10.231";
const run = promisify(execFile);

/** Why there can be no further hosts here; undefined if there can. */
export function hostsProblem(): string | undefined {
  if (process.platform !== "linux") return "network namespaces need Linux";
  for (const [command, flag] of [
    ["ip", "-V"],
    ["nsenter", "--version"],
  ] as const)
    if (spawnSync(command, [flag]).status !== 0) return `the command ${command} is not installed (iproute2, util-linux)`;
  const [command = "", ...args] = namespace();
  const { status, stderr } = spawnSync(command, [...args, "true"], { encoding: "utf8" });
  return status === 0 ? undefined : `network namespaces are not permitted: ${(stderr ?? "").trim() || "unshare failed"}`;
}

/**
 * The hosts of one run, joined by veth pairs in a star around that of the caller. The namespaces have no names: each exists as long as a process
 * is in it, so that nothing is left to clean up, however the benchmark ends.
 */
export class Hosts {
  readonly caller: Host;
  readonly agents: readonly Host[];
  readonly #holders: readonly ChildProcess[];

  private constructor(caller: Host, agents: readonly Host[], holders: readonly ChildProcess[]) {
    this.caller = caller;
    this.agents = agents;
    this.#holders = holders;
  }

  /** Throws Error with the reason where they are not permitted. */
  static async open(count: number, withinMs: number): Promise<Hosts> {
    const holders: ChildProcess[] = [];
    try {
      const near = await hold(namespace(), holders, withinMs);
      await ip(near, "link", "set", "lo", "up");
      const agents: Host[] = [];
      for (let number = 1; number < count; number++) agents.push(await join(near, number, holders, withinMs));
      return new Hosts({ within: enter(near), address: LOOPBACK }, agents, holders);
    } catch (thrown) {
      end(holders);
      throw new Error(`the hosts could not be made: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  }

  /** The host of a process of agents: one after the other. */
  of(process: number): Host {
    return this.agents[process % this.agents.length] ?? this.caller;
  }

  /** The namespaces end with the last process in them. */
  close(): void {
    end(this.#holders);
  }
}

/** Makes one more host and the wire to it. */
async function join(near: number, number: number, holders: ChildProcess[], withinMs: number): Promise<Host> {
  // In the same user namespace, if there is one: otherwise no wire could lead there.
  const far = await hold([...owner(near), "unshare", "--net"], holders, withinMs);
  const name = `agents-${number}`;
  await ip(near, "link", "add", name, "type", "veth", "peer", "name", "caller", "netns", String(far));
  const addressOf = (side: number): string => `${NETWORK}.${number}.${side}`;
  for (const [host, device, side] of [
    [near, name, 1],
    [far, "caller", 2],
  ] as const) {
    await ip(host, "addr", "add", `${addressOf(side)}/24`, "dev", device);
    await ip(host, "link", "set", device, "up");
  }
  await ip(far, "link", "set", "lo", "up");
  return { within: enter(far), address: addressOf(2) };
}

const isRoot = (): boolean => process.getuid?.() === 0;

/** Makes a network namespace. Somebody who is not root needs a user namespace around it. */
function namespace(): readonly string[] {
  return isRoot() ? ["unshare", "--net"] : ["unshare", "--user", "--map-root-user", "--net"];
}

function owner(pid: number): readonly string[] {
  return isRoot() ? [] : ["nsenter", `--user=/proc/${pid}/ns/user`, "--preserve-credentials"];
}

function enter(pid: number): readonly string[] {
  const user = isRoot() ? [] : [`--user=/proc/${pid}/ns/user`, "--preserve-credentials"];
  return ["nsenter", ...user, `--net=/proc/${pid}/ns/net`];
}

async function ip(host: number, ...words: readonly string[]): Promise<void> {
  const [command = "", ...args] = [...enter(host), "ip", ...words];
  await run(command, args);
}

/** A process that keeps a namespace while nothing else is in it. It ends when its input does, so never after this one. */
async function hold(within: readonly string[], holders: ChildProcess[], withinMs: number): Promise<number> {
  const [command = "", ...args] = [...within, "sh", "-c", "echo ready; exec cat"];
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
  holders.push(child);
  child.stdin.on("error", () => undefined);
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no namespace within ${withinMs} ms`)), withinMs);
      child.stdout.once("data", () => resolve());
      child.once("error", reject);
      child.once("close", () => reject(new Error(said.trim() || "the namespace ended")));
    });
  } finally {
    clearTimeout(timer);
  }
  return child.pid ?? 0;
}

function end(holders: readonly ChildProcess[]): void {
  for (const holder of holders) holder.kill("SIGKILL");
}
