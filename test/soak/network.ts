import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Interface } from "../../src/index.js";
import { heldBy } from "../gateway/processes/memory.js";
import { killProcesses, type OwnProcess, startProcess } from "../gateway/processes/start.js";
import { openProtocols } from "../helpers/open-protocols.js";

/** How long after its return an upstream may still be unknown to the gateway: a ping interval, a retry, and a busy machine. */
const RETURNING_MS = 15_000;

const SECRET_FILE = "secret";

/** An upstream process that can be killed. It keeps its tasks in a file. */
interface Upstream {
  readonly pin: string;
  readonly file: string;
  process: OwnProcess;
  /** When it was killed last, and until when calls to it may fail. */
  killedAt: number;
  backAt: number;
}

/** A gateway in mode adopt, and one upstream for each registered protocol. */
export class SoakNetwork {
  readonly names: readonly string[];
  readonly #folder: string;
  readonly #upstreams: ReadonlyMap<string, Upstream>;
  readonly #gateway: OwnProcess;
  readonly #interfaces: { readonly [agent: string]: readonly Interface[] };
  #turns = 0;

  private constructor(parts: {
    readonly folder: string;
    readonly upstreams: ReadonlyMap<string, Upstream>;
    readonly gateway: OwnProcess;
    readonly interfaces: { readonly [agent: string]: readonly Interface[] };
  }) {
    this.#folder = parts.folder;
    this.#upstreams = parts.upstreams;
    this.#gateway = parts.gateway;
    this.#interfaces = parts.interfaces;
    this.names = [...parts.upstreams.keys()];
  }

  static async open(): Promise<SoakNetwork> {
    const folder = await mkdtemp(join(tmpdir(), "koine-soak-"));
    await writeFile(join(folder, SECRET_FILE), "a secret of the gateway of the soak test", { mode: 0o600 });
    const started = openProtocols.map(async ({ id }): Promise<readonly [string, Upstream]> => {
      const file = join(folder, `${id}.db`);
      const process = await startProcess("upstream", { file });
      return [`at-${id}`, { pin: id, file, process, killedAt: 0, backAt: 0 }];
    });
    const upstreams = new Map(await Promise.all(started));
    const gateway = await startProcess("configured-gateway", documentOf(upstreams, folder, 0));
    gateway.writeLine("interfaces");
    const line = await gateway.lineStarting("interfaces ");
    return new SoakNetwork({ folder, upstreams, gateway, interfaces: JSON.parse(line.slice("interfaces ".length)) });
  }

  /** The address of an agent for callers that speak this protocol. */
  addressOf(agent: string, protocol: string): string {
    const found = this.#interfaces[agent]?.find((each) => each.protocol === protocol && /^https?:/.test(each.url));
    if (found === undefined) throw new Error(`the gateway does not serve ${agent} over ${protocol}`);
    return found.url;
  }

  /** Whether a call to this agent that ran from then until now may have failed because of a kill. */
  wasKilledSince(agent: string, startedAt: number): boolean {
    const upstream = this.#upstreams.get(agent);
    return upstream !== undefined && upstream.killedAt > 0 && startedAt < upstream.backAt + RETURNING_MS;
  }

  /** SIGKILL; the same process is back at the same port some time later. */
  async killAndRestart(agent: string, goneMs: number): Promise<void> {
    const upstream = this.#upstreams.get(agent);
    if (upstream === undefined) return;
    const { port } = upstream.process;
    upstream.killedAt = performance.now();
    upstream.backAt = Number.POSITIVE_INFINITY;
    await upstream.process.kill();
    await new Promise((resolve) => setTimeout(resolve, goneMs));
    upstream.process = await startProcess("upstream", { file: upstream.file, port });
    upstream.backAt = performance.now();
  }

  /** Replaces one agent of the gateway by one with other settings. */
  async reload(): Promise<void> {
    const turn = ++this.#turns;
    this.#gateway.writeLine(`reload ${turn} ${JSON.stringify(documentOf(this.#upstreams, this.#folder, turn))}`);
    await this.#gateway.lineStarting(`reloaded ${turn}`);
  }

  /** Bytes that the gateway holds after a collection. */
  memory(name: string): Promise<number> {
    return heldBy(this.#gateway, name);
  }

  async close(): Promise<void> {
    await killProcesses();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Limits that are reached soon: what is kept is full early in the run, so that anything that grows afterwards is seen. */
function documentOf(upstreams: ReadonlyMap<string, Upstream>, folder: string, turn: number): object {
  const names = [...upstreams.keys()];
  return {
    listen: { port: 0 },
    store: { sqlite: join(folder, "gateway") },
    secret: { file: join(folder, SECRET_FILE) },
    inspect: { sightings: 200, totalBytes: 4 * 1024 * 1024 },
    metrics: true,
    taskLimits: { keptTasks: 1_000 },
    agents: [...upstreams].map(([name, { pin, process }], index) => ({
      name,
      upstream: process.url,
      pin,
      mode: "adopt",
      policies: { retry: true, breaker: { openMs: 1_000 } },
      // The agent whose turn it is gets another setting, so that a reload replaces it.
      timeoutMs: 60_000 + (turn > 0 && index === turn % names.length ? turn : 0),
    })),
  };
}
