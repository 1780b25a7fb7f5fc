import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { AgentError } from "../../src/index.js";
import { openIdentity } from "../../src/public/identity.js";
import { PROGRAM_EXTENSION, packageFile } from "../../src/transport/node/package-file.js";
import type { Callee, ChildTask } from "./child-task.js";
import { systemClock, type UpClock } from "./clock.js";
import type { OutputStream } from "./group-process.js";
import { UP_LIMITS, type UpLimits } from "./limits.js";
import { switchesOf } from "./link-features.js";
import type { NodeKind, NodeStatus, Supervisor } from "./node-status.js";
import { Pinger } from "./pinger.js";
import { floorLine, floorLinks } from "./plan-floor.js";
import { openIdentities, type PlanIdentities } from "./plan-identities.js";
import type { CredentialReferences, PlanModule } from "./plan-schema.js";
import { withTokens } from "./plan-tokens.js";
import { LOOPBACK, Ports } from "./ports.js";
import { ProcessSupervisor } from "./process-supervisor.js";
import type { Plan } from "./read-plan.js";
import { readCredentials, secretVariables } from "./secrets.js";
import { StatusBoard } from "./status-board.js";
import { UnsupportedNode, UrlMonitor } from "./url-monitor.js";
import { type AddressedModule, type PlannedBridge, type Wiring, wire } from "./wiring.js";

/** Options of `launch`. */
export interface LaunchOptions {
  /** Overrides of the default limits (`UP_LIMITS`). */
  readonly limits?: Partial<UpLimits>;
  /** Environment of the processes. Default: process.env. */
  readonly env?: NodeJS.ProcessEnv;
  /** Called with every line of process output. */
  readonly onOutput?: (id: string, stream: OutputStream, line: string) => void;
  /** Hosts a bridge elsewhere and returns its URL; the caller closes it. `tokens` are those made for the plan. Default: one process per bridge. */
  readonly hostBridge?: (wanted: PlannedBridge, tokens: { readonly [variable: string]: string }) => Promise<string>;
  /** The time source. Default: the system clock. */
  readonly clock?: UpClock;
}

/** A running network. */
export interface LaunchedNetwork {
  readonly plan: Plan;
  nodes(): readonly NodeStatus[];
  /** Kills a process, as in a crash; the supervisor restarts it. */
  kill(id: string): void;
  /** Stops a process gracefully and starts it again, even after giving up. */
  restart(id: string): Promise<void>;
  /** Subscribes to status changes. Returns the function that unsubscribes. */
  onChange(listener: (status: NodeStatus) => void): () => void;
  /** Resolves when every node is ready, given up, or not supported. */
  settled(): Promise<readonly NodeStatus[]>;
  /** Drains and stops all processes. */
  stop(): Promise<void>;
}

/** Starts every module of a plan as a supervised process, with a bridge for every link that needs one. */
export async function launch(given: Plan, options: LaunchOptions = {}): Promise<LaunchedNetwork> {
  const { plan, env: tokens } = withTokens(given);
  const listeners = new Set<(status: NodeStatus) => void>();
  const context: LaunchContext = {
    plan,
    limits: { ...UP_LIMITS, ...options.limits },
    clock: options.clock ?? systemClock,
    env: { ...(options.env ?? process.env), ...tokens },
    secrets: secretVariables(plan.modules.map(({ credentials }) => credentials)),
    onOutput: options.onOutput ?? (() => undefined),
    changed: (status) => {
      for (const listener of listeners) listener(status);
    },
  };
  await checkSecrets(context);
  const [refused] = (await floorLinks(plan)).filter(({ outcome }) => outcome === "refused");
  if (refused !== undefined) throw new AgentError("downgrade_refused", floorLine(refused), { field: `modules.${refused.dst}` });
  const identities = await openIdentities(plan);
  const ports = new Ports();
  const wiring = await wire(plan, ports, identities);
  const bridgeUrls = new Map<string, string>();
  const bridges: Supervisor[] = [];
  for (const wanted of wiring.bridges) {
    if (options.hostBridge !== undefined) {
      bridgeUrls.set(wanted.id, await options.hostBridge(wanted, tokens));
      continue;
    }
    const port = await ports.take(wanted.id);
    const url = `http://${LOOPBACK}:${port}`;
    bridgeUrls.set(wanted.id, url);
    bridges.push(bridgeSupervisor(wanted, url, port, context));
  }
  const supervisors = [
    ...wiring.modules.map((addressed) => moduleSupervisor(addressed, { wiring, bridgeUrls, identities }, context)),
    ...bridges,
  ];
  for (const supervisor of supervisors) supervisor.start();

  const supervisorOf = (id: string): Supervisor => {
    const found = supervisors.find(({ status }) => status.id === id);
    if (found === undefined) throw new AgentError("not_found", `Unknown node ${JSON.stringify(id)}`);
    return found;
  };
  const nodes = (): readonly NodeStatus[] => supervisors.map(({ status }) => status);
  const onChange: LaunchedNetwork["onChange"] = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    plan,
    nodes,
    onChange,
    kill: (id) => supervisorOf(id).kill(),
    restart: async (id) => supervisorOf(id).restart(),
    settled: () =>
      new Promise((done) => {
        const check = (): void => {
          if (!nodes().every(isSettled)) return;
          off();
          done(nodes());
        };
        const off = onChange(check);
        check();
      }),
    async stop() {
      await Promise.all(supervisors.map((supervisor) => supervisor.stop()));
    },
  };
}

function isSettled({ kind, state }: NodeStatus): boolean {
  return ["ready", "gave-up", "unspoken", "stopped"].includes(state) || (kind === "url" && state === "unhealthy");
}

interface LaunchContext {
  readonly plan: Plan;
  readonly limits: UpLimits;
  readonly clock: UpClock;
  readonly env: NodeJS.ProcessEnv;
  /** Variables that hold secrets: a process gets only those it needs. */
  readonly secrets: readonly string[];
  readonly onOutput: NonNullable<LaunchOptions["onOutput"]>;
  readonly changed: (status: NodeStatus) => void;
}

/** Fails at start for missing secrets, not at the first call. */
async function checkSecrets({ plan, env }: LaunchContext): Promise<void> {
  for (const { credentials } of plan.modules) await readCredentials(credentials, { env, folder: plan.folder });
}

function kindOf({ command, agent, url }: PlanModule): NodeKind {
  if (command !== undefined) return "command";
  if (agent !== undefined) return "agent";
  return url === undefined ? "demo" : "url";
}

interface Surroundings {
  readonly wiring: Wiring;
  readonly bridgeUrls: ReadonlyMap<string, string>;
  readonly identities: PlanIdentities;
}

function moduleSupervisor(addressed: AddressedModule, around: Surroundings, context: LaunchContext): Supervisor {
  const { module, protocol, pin, url, port } = addressed;
  const { plan, limits, clock } = context;
  const first = { id: module.id, kind: kindOf(module), protocol, url, pid: undefined, restarts: 0 };
  if (pin === undefined)
    return new UnsupportedNode({
      ...first,
      pin: "",
      state: "unspoken",
      since: clock.now(),
      problem: `protocol ${protocol} is not registered`,
    });
  const board = new StatusBoard({ ...first, pin, state: "starting", problem: undefined }, clock, context.changed);
  const identity = module.identity === undefined ? undefined : resolve(plan.folder, module.identity);
  const admits = around.identities.admittedBy(module.id);
  const caller = { credentials: module.credentials, identity: admits && identity };
  const pinger = pingerFor({ url, pin, ...caller }, context, module.ready?.path);
  if (module.url !== undefined) return new UrlMonitor({ board, pinger, limits, clock });

  const peers = around.wiring.peersOf(module.id, around.bridgeUrls);
  const needed = secretVariables([module.credentials, ...Object.values(peers).map(({ credentials }) => credentials)]);
  const { agent, command, credentials } = module;
  const switches = switchesOf(plan.network.nodes.find(({ id }) => id === module.id)?.features ?? [], module.require);
  const file = agent === undefined ? undefined : resolve(plan.folder, agent);
  const { folder, settings } = plan;
  const served = { file, identity, admits, credentials, settings, peers, switches };
  const task: ChildTask = { kind: "agent", id: module.id, pin, port, folder, ...served };
  const own = { ...module.env, ...(command === undefined ? {} : commandVariables(addressed, peers)) };
  return new ProcessSupervisor({
    board,
    pinger,
    isOwn: command === undefined,
    readyMs: module.ready?.timeout === undefined ? limits.readyMs : module.ready.timeout * 1000,
    limits,
    clock,
    process: {
      command: command ?? childCommand(task),
      cwd: resolve(plan.folder, module.cwd ?? "."),
      env: { ...environmentFor(needed, context), ...own },
      lineCharacters: limits.lineCharacters,
      onLine: (stream, line) => context.onOutput(module.id, stream, line),
    },
  });
}

function bridgeSupervisor(wanted: PlannedBridge, url: string, port: number, context: LaunchContext): Supervisor {
  const { id, pin, protocol, to, dst, credentials, switches } = wanted;
  const { plan, limits, clock } = context;
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
  const { folder, settings } = plan;
  const task: ChildTask = { kind: "bridge", name: dst, pin, port, folder, credentials, settings, to, switches };
  return new ProcessSupervisor({
    board: new StatusBoard(first, clock, context.changed),
    pinger: pingerFor({ url, pin, credentials }, context),
    isOwn: true,
    readyMs: limits.readyMs,
    limits,
    clock,
    process: {
      command: childCommand(task),
      cwd: plan.folder,
      env: environmentFor(secretVariables([to.credentials]), context),
      lineCharacters: limits.lineCharacters,
      onLine: (stream, line) => context.onOutput(id, stream, line),
    },
  });
}

interface PingAddress {
  readonly url: string;
  readonly pin: string;
  readonly credentials?: CredentialReferences | undefined;
  /** The file of the identity that pings: the module's own, which it admits. */
  readonly identity?: string | undefined;
}

function pingerFor(
  { url, pin, credentials, identity }: PingAddress,
  { limits, env, plan }: LaunchContext,
  path?: string,
): Pinger {
  const source = { env, folder: plan.folder };
  const { settings } = plan;
  return new Pinger({
    url,
    pin,
    pingMs: limits.pingMs,
    path,
    settings,
    identity: async () => (identity === undefined ? undefined : openIdentity(identity)),
    credentials: () => readCredentials(credentials, source),
  });
}

/** The parent's environment without the secrets of other modules. */
function environmentFor(needed: readonly string[], { env, secrets }: LaunchContext): NodeJS.ProcessEnv {
  const hidden = new Set(secrets.filter((name) => !needed.includes(name)));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.has(name)));
}

/** Variables that tell an external program its port and its peers. */
function commandVariables(
  { module, port, pin }: AddressedModule,
  peers: ReturnType<Wiring["peersOf"]>,
): { readonly [name: string]: string } {
  const addresses = Object.entries(peers).map(([id, callee]) => [
    id,
    { url: callee.url, did: callee.did, protocol: callee.pin, ...tokenVariable(callee) },
  ]);
  return {
    PORT: String(port),
    KOINE_PORT: String(port),
    KOINE_ID: module.id,
    KOINE_PIN: pin ?? "",
    KOINE_PEERS: JSON.stringify(Object.fromEntries(addresses)),
  };
}

/** The name of the variable that holds the token for a peer. */
function tokenVariable({ credentials }: Callee): { readonly tokenEnv?: string } {
  const bearer = credentials?.bearer;
  return bearer !== undefined && "env" in bearer ? { tokenEnv: bearer.env } : {};
}

/** The command line of child.ts, from source or as built. */
function childCommand(task: ChildTask): readonly string[] {
  const child = fileURLToPath(packageFile(`apps/up/child${PROGRAM_EXTENSION}`));
  const loader =
    PROGRAM_EXTENSION === ".ts" ? ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href] : [];
  return [process.execPath, ...loader, child, JSON.stringify(task)];
}
