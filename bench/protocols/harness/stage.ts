import { rmSync } from "node:fs";
import { startWorker, type Worker } from "../../harness/processes.js";
import type { Usage } from "../../harness/worker.js";
import { clockOrigin, type RunClock, runClock } from "../clock.js";
import type { Hosts } from "../hosts/hosts.js";
import type { AgentStarted, AgentTask, CallerTask, Configuration, PhaseDone, PhaseTask } from "../processes/tasks.js";
import { RedisProcess } from "../queue/redis-process.js";
import type { BenchEventOf } from "../result/index.js";
import { CALLER, edgeTo } from "../result/witness.js";
import type { EdgeConditions, EdgeCounts } from "../wire/edge-proxy.js";
import type { AgentProcess } from "./agent-process.js";
import { type Edge, edgesOf, openEdges, ProxyAddresses } from "./edges.js";
import { createIdentities, type RunIdentities } from "./identities.js";
import { placeAgents } from "./plan-runs.js";
import { ReconnectMeter } from "./reconnect-meter.js";
import { eventsIn, portOf, portProblem } from "./replies.js";
import type { StageParts } from "./stage-parts.js";

/** Faults that take longer to come and go than their window are an error of the harness. */
const LONGEST_FAULTS_MS = 600_000;

/** The processes of one run: agents, a caller, and a proxy in the path of every edge. */
export class Stage {
  readonly now: RunClock;
  readonly #origin = clockOrigin();
  readonly #parts: StageParts;
  readonly #hosts: Hosts | undefined;
  readonly #wire: Worker;
  #caller: Worker;
  #callers = 0;
  #targets: CallerTask["targets"] = [];
  #redis: RedisProcess | undefined;
  readonly #agents: AgentProcess[] = [];
  readonly #stopped = new Set<number>();
  readonly #meter: ReconnectMeter;
  readonly #served = new Map<string, number>();
  #edges: readonly Edge[] = [];
  /** Of agents that callers do not name by their URL. */
  readonly #addresses = new Map<string, string>();
  /** The first thing a process sent that is no event. */
  #nonsense: Error | undefined;
  #closing = false;
  #identities: RunIdentities | undefined;

  /** Starts the caller and the proxies; `open` starts the agents. */
  constructor(parts: StageParts, hosts?: Hosts) {
    this.#parts = parts;
    this.#hosts = hosts;
    this.now = runClock(this.#origin);
    const within = hosts?.caller.within;
    this.#wire = startWorker("wire", parts.files.wire, { within });
    this.#meter = new ReconnectMeter({ counts: () => this.#wire.ask("counts"), emit: parts.emit });
    this.#caller = this.#start("caller", parts.files.caller, within);
  }

  async phase(task: PhaseTask): Promise<PhaseDone> {
    const { messageTimeoutMs } = this.#parts.settings;
    const longestMs = task.forMs + 2 * messageTimeoutMs + this.#parts.startMs + (task.untilTold === true ? LONGEST_FAULTS_MS : 0);
    const done = await this.#caller.ask<PhaseDone>("phase", task, longestMs);
    if (this.#nonsense !== undefined) throw this.#nonsense;
    return done;
  }

  /** When this agent was last heard to have served a message. */
  servedNs(agent: string): number {
    return this.#served.get(agent) ?? 0;
  }

  /** Ends a phase that lasts until it is told. */
  endPhase(): Promise<void> {
    return this.#caller.ask("endPhase");
  }

  /** Waits for the events that agents still hold. */
  async flush(): Promise<void> {
    await Promise.all(this.#running(this.#agents).map(({ worker }) => worker.ask("flush")));
    if (this.#nonsense !== undefined) throw this.#nonsense;
  }

  /** Records the bytes of each edge and the usage of each process. */
  async sample(phase: "warm-up" | "measure" | "end"): Promise<void> {
    const { run } = this.#parts.planned;
    const counts = await this.#wire.ask<Readonly<Record<string, EdgeCounts>>>("counts");
    for (const [edge, each] of Object.entries(counts)) this.#parts.emit({ type: "wire", run, edge, phase, ...each });
    const processes = this.#running([{ name: "caller", worker: this.#caller }, ...this.#agents]);
    await Promise.all(
      processes.map(async ({ name, worker }) => {
        const { cpuUs, rssBytes }: Usage = await worker.usage();
        this.#parts.emit({ type: "usage", run, process: name, phase, cpuUs, rssBytes });
      }),
    );
  }

  refuses(agent: string): Promise<boolean> {
    return this.#wire.ask("refuses", edgeTo(agent));
  }

  /** An agent is about to come back: the caller asks it until it answers right. */
  probe(agent: string): Promise<void> {
    return this.#caller.ask("probe", agent);
  }

  setEdge(edge: string, conditions: EdgeConditions): Promise<void> {
    const dose = edge.startsWith(edgeTo("")) ? this.#dose() : {};
    return this.#wire.ask("conditions", { edge, conditions: { ...dose, ...conditions } });
  }

  /** The process of an agent, for faults. */
  workerOf(agent: string): { readonly worker: Worker; readonly port: number } {
    const found = this.#processOf(agent);
    return { worker: found.worker, port: found.task.agents.find(({ name }) => name === agent)?.port ?? 0 };
  }

  /** A stopped process cannot end itself: the wire process ends it if this one is killed. */
  async markStopped(pid: number, isStopped: boolean): Promise<void> {
    if (isStopped) this.#stopped.add(pid);
    else this.#stopped.delete(pid);
    await this.#wire.ask("guard", [...this.#stopped]);
  }

  /** Starts the process of an agent again, at the same ports. */
  async restart(agent: string): Promise<void> {
    const found = this.#processOf(agent);
    await this.#meter.begin(agent);
    found.worker = this.#start(found.name, this.#parts.files.agent, found.within);
    found.restarts++;
    found.task = { ...found.task, restarts: found.restarts };
    await this.#begin(found);
  }

  /** Resolves when the caller has recorded so many entries of its queue. */
  whenRecorded(count: number, withinMs: number): Promise<void> {
    return this.#caller.ask("whenRecorded", count, withinMs);
  }

  /** Kills the caller, and waits until it is gone. Returns its process id. */
  async killCaller(): Promise<number> {
    this.#caller.signal("SIGKILL");
    await this.#caller.ended;
    return this.#caller.pid;
  }

  /** Another caller, connected to the same agents. */
  async startCaller(): Promise<void> {
    this.#caller = this.#start(CALLER, this.#parts.files.caller, this.#hosts?.caller.within);
    await this.#connect();
  }

  /** Ends every process and waits until they are gone. */
  async close(): Promise<void> {
    this.#closing = true;
    const workers = [this.#caller, ...this.#agents.map(({ worker }) => worker), this.#wire];
    for (const worker of workers) worker.stop();
    await Promise.all(workers.map(({ ended }) => ended));
    await this.#redis?.stop();
    this.#identities?.remove();
    rmSync(this.#parts.stateFolder, { recursive: true, force: true });
    this.#hosts?.close();
  }

  #start(name: string, file: string, within?: readonly string[]): Worker {
    if (this.#closing) throw new Error("the run was ended");
    return startWorker(name, file, { within, onNote: (note) => this.#take(name, note) });
  }

  /** Starts everything and connects the caller. */
  async open(): Promise<void> {
    const { settings, basePort, startMs, planned, files } = this.#parts;
    const placed = placeAgents(settings.agents);
    const all = placed.flat();
    this.#edges = edgesOf(all, settings.topology);
    const hostOf = (agent: string) => this.#hosts?.of(placed.findIndex((agents) => agents.includes(agent)));
    const open = openEdges(this.#edges, { seed: planned.seed, basePort, addressOf: (agent) => hostOf(agent)?.address });
    const ports = await this.#wire
      .ask<Readonly<Record<string, number>>>("open", open, startMs)
      .catch((thrown: unknown) => Promise.reject(portProblem(thrown)));
    const proxies = new ProxyAddresses(this.#edges, ports);
    await this.#identify(all.map((agent) => ({ name: agent, endpoint: proxies.urlOf(agent) })));
    for (const [index, agents] of placed.entries()) {
      const name = `agents-${index + 1}`;
      const task = this.#agentTask(
        agents.map((agent) => ({
          name: agent,
          publicUrl: proxies.urlOf(agent),
          port: 0,
          host: hostOf(agent)?.address,
          identity: this.#identities?.files.get(agent),
          ...(settings.topology === undefined ? {} : proxies.peersOf(agent)),
        })),
        all,
      );
      const within = this.#hosts?.of(index).within ?? [];
      this.#agents.push({ name, agents, within, worker: this.#start(name, files.agent, within), task, restarts: 0 });
    }
    await Promise.all(this.#agents.map((each) => this.#begin(each)));
    await Promise.all(all.map((name) => this.setEdge(edgeTo(name), {})));
    this.#targets = all.map((agent) => ({ agent, url: this.#addresses.get(agent) ?? proxies.urlOf(agent) }));
    if (settings.queue === "redis") this.#redis = await RedisProcess.start(startMs);
    // Ended meanwhile: nobody would stop it.
    if (this.#closing) await this.#redis?.stop();
    await this.#connect();
  }

  async #identify(agents: readonly { readonly name: string; readonly endpoint: string }[]): Promise<void> {
    const { arm, identityFolder } = this.#parts;
    if (arm.identities !== true) return;
    this.#identities = await createIdentities(arm.protocol, identityFolder, [...agents, { name: CALLER, endpoint: "" }]);
    // Ended meanwhile: nobody would remove them.
    if (this.#closing) this.#identities.remove();
  }

  #agentTask(agents: AgentTask["agents"], allAgents: readonly string[]): AgentTask {
    const { model, programs, stateFolder, settings } = this.#parts;
    const known = this.#identities;
    const callers = settings.topology === undefined ? [CALLER] : [CALLER, ...allAgents];
    const identities = known && { records: known.records, callers: callers.map((each) => known.dids.get(each) ?? "") };
    const program = programs?.agent;
    return { ...this.#runTask(), agents, allAgents, model, identities, program, stateFolder, restarts: 0 };
  }

  #runTask() {
    const { planned, arm, settings, condition, data, startMs } = this.#parts;
    return { run: planned.run, origin: this.#origin, seed: planned.seed, arm, settings, condition, data, startMs };
  }

  async #begin(process: AgentProcess): Promise<void> {
    const { startMs } = this.#parts;
    const { name, agents, worker } = process;
    const started = await worker.ask<AgentStarted>("start", process.task, startMs);
    for (const [agent, address] of Object.entries(started.addresses ?? {})) this.#addresses.set(agent, address);
    // Kept for a restart, which must listen at the same ports.
    process.task = {
      ...process.task,
      agents: process.task.agents.map((each) => ({ ...each, port: portOf(started, each.name) })),
    };
    await Promise.all(
      process.task.agents.flatMap(({ name: agent, port }) =>
        this.#edges.filter(({ to }) => to === agent).map((edge) => this.#wire.ask("target", { edge: edge.name, port })),
      ),
    );
    this.#record(name, { agents: [...agents], pid: worker.pid, restart: process.restarts }, started.configuration);
  }

  /** A process works, with this configuration. */
  #record(
    process: string,
    facts: Pick<BenchEventOf<"process-started">, "agents" | "pid" | "restart">,
    values: Configuration,
  ): void {
    const { planned, emit } = this.#parts;
    emit({ type: "process-started", run: planned.run, process, ns: this.now(), ...facts });
    emit({ type: "configuration", run: planned.run, process, values: { ...values } });
  }

  async #connect(): Promise<void> {
    const { condition, entries, programs, startMs, settings } = this.#parts;
    const known = this.#identities;
    const identities = known && { records: known.records, own: known.files.get(CALLER) ?? "" };
    const task: CallerTask = {
      ...this.#runTask(),
      targets: this.#targets,
      load: condition.load,
      redis: this.#redis?.socket,
      identities,
      entries,
      program: programs?.caller,
    };
    const configuration = await this.#caller.ask<Configuration>("connect", task, startMs + settings.connectTimeoutMs);
    this.#record(CALLER, { agents: [], pid: this.#caller.pid, restart: this.#callers++ }, configuration);
  }

  #dose(): EdgeConditions {
    return { toAgentMs: this.#parts.arm.doseMs ?? 0 };
  }

  /** Those that are not stopped, and so answer. */
  #running<P extends { readonly worker: Worker }>(processes: readonly P[]): readonly P[] {
    return processes.filter(({ worker }) => !this.#stopped.has(worker.pid));
  }

  #processOf(agent: string): AgentProcess {
    const found = this.#agents.find(({ agents }) => agents.includes(agent));
    if (found === undefined) throw new Error(`there is no agent ${agent}`);
    return found;
  }

  #take(process: string, note: unknown): void {
    if (this.#closing) return;
    for (const event of eventsIn(note, this.#parts.planned.run)) {
      if (event !== undefined) this.#parts.emit(event);
      else this.#nonsense ??= new Error(`the process ${process} sent something that is no event of this run`);
      if (event?.type === "service" || event?.type === "peer-service") this.#served.set(event.agent, this.now());
      // Without the wire process there is nothing left to count.
      if (event?.type === "note") this.#meter.see(event).catch(() => undefined);
    }
  }
}
