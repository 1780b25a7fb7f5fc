import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { AgentError } from "../../src/index.js";
import type { ChildTask } from "./child-task.js";
import { systemClock, type UpClock } from "./clock.js";
import type { OutputStream } from "./group-process.js";
import { UP_LIMITS, type UpLimits } from "./limits.js";
import type { NodeKind, NodeStatus, Supervisor } from "./node-status.js";
import { Pinger } from "./pinger.js";
import type { CredentialPlaces, PlanModule } from "./plan-schema.js";
import { LOOPBACK, Ports } from "./ports.js";
import { ProcessSupervisor } from "./process-supervisor.js";
import type { Plan } from "./read-plan.js";
import { readCredentials, secretVariables } from "./secrets.js";
import { StatusBoard } from "./status-board.js";
import { UnsupportedNode, UrlMonitor } from "./url-monitor.js";
import { type PlacedModule, type WantedBridge, type Wiring, wire } from "./wiring.js";

export interface LaunchOptions {
  readonly limits?: Partial<UpLimits>;
  /** What the processes inherit. Default: what this one has. */
  readonly env?: NodeJS.ProcessEnv;
  /** Hears every line a process writes. */
  readonly onOutput?: (id: string, stream: OutputStream, line: string) => void;
  /** Puts up a bridge in a way of one's own and gives its address. Default: each is a process. Closing it is the caller's affair. */
  readonly hostBridge?: (wanted: WantedBridge) => Promise<string>;
  readonly clock?: UpClock;
}

/** A network that runs. */
export interface Launched {
  readonly plan: Plan;
  nodes(): readonly NodeStatus[];
  /** Ends a process at once, as a crash would; it comes back by itself. */
  kill(id: string): void;
  /** Ends a process gently and starts it anew; also one that was given up. */
  restart(id: string): Promise<void>;
  /** Hears of every change. The returned function ends that. */
  onChange(hear: (status: NodeStatus) => void): () => void;
  /** When every node is ready, given up, or shown only. */
  settled(): Promise<readonly NodeStatus[]>;
  /** Drains and ends all processes; resolves when none is left. */
  stop(): Promise<void>;
}

/** Starts every module of a plan as a process of its own, with a bridge wherever a link needs one, and keeps them running. */
export async function launch(plan: Plan, options: LaunchOptions = {}): Promise<Launched> {
  const listeners = new Set<(status: NodeStatus) => void>();
  const setting: Setting = {
    plan,
    limits: { ...UP_LIMITS, ...options.limits },
    clock: options.clock ?? systemClock,
    env: options.env ?? process.env,
    secrets: secretVariables(plan.modules.map(({ credentials }) => credentials)),
    onOutput: options.onOutput ?? (() => undefined),
    changed: (status) => {
      for (const hear of listeners) hear(status);
    },
  };
  await checkSecrets(setting);
  const ports = new Ports();
  const wiring = await wire(plan, ports);
  const bridgeUrls = new Map<string, string>();
  const bridges: Supervisor[] = [];
  for (const wanted of wiring.bridges) {
    if (options.hostBridge !== undefined) {
      bridgeUrls.set(wanted.id, await options.hostBridge(wanted));
      continue;
    }
    const port = await ports.take(wanted.id);
    const url = `http://${LOOPBACK}:${port}`;
    bridgeUrls.set(wanted.id, url);
    bridges.push(bridgeKeeper(wanted, url, port, setting));
  }
  const keepers = [...wiring.modules.map((placed) => moduleKeeper(placed, wiring, bridgeUrls, setting)), ...bridges];
  for (const keeper of keepers) keeper.start();

  const keeperOf = (id: string): Supervisor => {
    const found = keepers.find(({ status }) => status.id === id);
    if (found === undefined) throw new AgentError("not_found", `no node is called ${JSON.stringify(id)}`);
    return found;
  };
  const nodes = (): readonly NodeStatus[] => keepers.map(({ status }) => status);
  const onChange: Launched["onChange"] = (hear) => {
    listeners.add(hear);
    return () => void listeners.delete(hear);
  };
  return {
    plan,
    nodes,
    onChange,
    kill: (id) => keeperOf(id).kill(),
    restart: async (id) => keeperOf(id).restart(),
    settled: () =>
      new Promise((done) => {
        const look = (): void => {
          if (!nodes().every(isSettled)) return;
          off();
          done(nodes());
        };
        const off = onChange(look);
        look();
      }),
    async stop() {
      await Promise.all(keepers.map((keeper) => keeper.stop()));
    },
  };
}

function isSettled({ kind, state }: NodeStatus): boolean {
  return ["ready", "gave-up", "unspoken", "stopped"].includes(state) || (kind === "url" && state === "unhealthy");
}

interface Setting {
  readonly plan: Plan;
  readonly limits: UpLimits;
  readonly clock: UpClock;
  readonly env: NodeJS.ProcessEnv;
  /** Variables with secrets: a process sees those it needs. */
  readonly secrets: readonly string[];
  readonly onOutput: NonNullable<LaunchOptions["onOutput"]>;
  readonly changed: (status: NodeStatus) => void;
}

/** A secret that is not there is found out now, and not by the first call. */
async function checkSecrets({ plan, env }: Setting): Promise<void> {
  for (const { credentials } of plan.modules) await readCredentials(credentials, { env, folder: plan.folder });
}

function kindOf({ command, agent, url }: PlanModule): NodeKind {
  if (command !== undefined) return "command";
  if (agent !== undefined) return "agent";
  return url === undefined ? "demo" : "url";
}

type Urls = ReadonlyMap<string, string>;

function moduleKeeper(placed: PlacedModule, wiring: Wiring, bridgeUrls: Urls, setting: Setting): Supervisor {
  const { module, protocol, pin, url, port } = placed;
  const { plan, limits, clock } = setting;
  const first = { id: module.id, kind: kindOf(module), protocol, url, pid: undefined, restarts: 0 };
  if (pin === undefined)
    return new UnsupportedNode({
      ...first,
      pin: "",
      state: "unspoken",
      since: clock.now(),
      problem: `${protocol} is not registered here`,
    });
  const board = new StatusBoard({ ...first, pin, state: "starting", problem: undefined }, clock, setting.changed);
  const pinger = pingerFor({ url, pin, credentials: module.credentials }, setting, module.ready?.path);
  if (module.url !== undefined) return new UrlMonitor({ board, pinger, limits, clock });

  const peers = wiring.peersOf(module.id, bridgeUrls);
  const needed = secretVariables([module.credentials, ...Object.values(peers).map(({ credentials }) => credentials)]);
  const { agent, command, credentials } = module;
  const file = agent === undefined ? undefined : resolve(plan.folder, agent);
  const task: ChildTask = { kind: "agent", id: module.id, file, pin, port, folder: plan.folder, credentials, peers };
  const own = { ...module.env, ...(command === undefined ? {} : commandVariables(placed, peers)) };
  return new ProcessSupervisor({
    board,
    pinger,
    ours: command === undefined,
    readyMs: module.ready?.timeout === undefined ? limits.readyMs : module.ready.timeout * 1000,
    limits,
    clock,
    process: {
      command: command ?? childCommand(task),
      cwd: resolve(plan.folder, module.cwd ?? "."),
      env: { ...environmentFor(needed, setting), ...own },
      lineCharacters: limits.lineCharacters,
      onLine: (stream, line) => setting.onOutput(module.id, stream, line),
    },
  });
}

function bridgeKeeper(wanted: WantedBridge, url: string, port: number, setting: Setting): Supervisor {
  const { id, pin, protocol, to, dst, credentials } = wanted;
  const { plan, limits, clock } = setting;
  const first = {
    id,
    kind: "bridge",
    protocol,
    pin,
    url,
    state: "starting",
    pid: undefined,
    restarts: 0,
    problem: undefined,
  } as const;
  const task: ChildTask = { kind: "bridge", name: dst, pin, port, folder: plan.folder, credentials, to };
  return new ProcessSupervisor({
    board: new StatusBoard(first, clock, setting.changed),
    pinger: pingerFor({ url, pin, credentials }, setting),
    ours: true,
    readyMs: limits.readyMs,
    limits,
    clock,
    process: {
      command: childCommand(task),
      cwd: plan.folder,
      env: environmentFor(secretVariables([to.credentials]), setting),
      lineCharacters: limits.lineCharacters,
      onLine: (stream, line) => setting.onOutput(id, stream, line),
    },
  });
}

interface Reached {
  readonly url: string;
  readonly pin: string;
  readonly credentials?: CredentialPlaces | undefined;
}

function pingerFor({ url, pin, credentials }: Reached, { limits, env, plan }: Setting, path?: string): Pinger {
  const source = { env, folder: plan.folder };
  return new Pinger({ url, pin, pingMs: limits.pingMs, path, credentials: () => readCredentials(credentials, source) });
}

/** What the parent has, without the secrets of others. */
function environmentFor(needed: readonly string[], { env, secrets }: Setting): NodeJS.ProcessEnv {
  const hidden = new Set(secrets.filter((name) => !needed.includes(name)));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.has(name)));
}

/** How a program that is not ours learns where it listens and whom it may call. */
function commandVariables(
  { module, port, pin }: PlacedModule,
  peers: ReturnType<Wiring["peersOf"]>,
): { readonly [name: string]: string } {
  const addresses = Object.entries(peers).map(([id, callee]) => [id, { url: callee.url, protocol: callee.pin }]);
  return {
    PORT: String(port),
    KOINE_PORT: String(port),
    KOINE_ID: module.id,
    KOINE_PIN: pin ?? "",
    KOINE_PEERS: JSON.stringify(Object.fromEntries(addresses)),
  };
}

/** This program again, from source or as it was built. */
function childCommand(task: ChildTask): readonly string[] {
  const own = fileURLToPath(import.meta.url);
  const fromSource = own.endsWith(".ts");
  const loader = fromSource ? ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href] : [];
  return [process.execPath, ...loader, resolve(dirname(own), fromSource ? "child.ts" : "child.js"), JSON.stringify(task)];
}
