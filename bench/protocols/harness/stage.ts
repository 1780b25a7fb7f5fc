import { rmSync } from "node:fs";
import { startWorker, type Worker } from "../../harness/processes.js";
import type { Usage } from "../../harness/worker.js";
import { clockOrigin, type RunClock, runClock } from "../clock.js";
import type { EntrySource } from "../entries/entry.js";
import type { ModelSettings } from "../models/settings.js";
import type { AgentStarted, AgentTask, CallerTask, Configuration, PhaseDone, PhaseTask, Program } from "../processes/tasks.js";
import type { OpenEdges } from "../processes/wire.js";
import { type Arm, BENCH_EVENT, type BenchEvent, type Condition, type PlannedRun, type Settings } from "../result/index.js";
import { CALLER, edgeBetween, edgeTo } from "../result/witness.js";
import type { EdgeConditions, EdgeCounts } from "../wire/edge-proxy.js";
import { type Edge, edgesOf } from "./edges.js";
import { createIdentities, type RunIdentities } from "./identities.js";
import { placeAgents } from "./plan-runs.js";
import { isNotes, portOf, portProblem } from "./process-replies.js";
import type { ProgramFiles } from "./programs.js";
import { ReconnectMeter } from "./reconnect-meter.js";

/** What a run is staged from. */
export interface StageParts {
  readonly planned: PlannedRun;
  readonly arm: Arm;
  readonly condition: Condition;
  readonly settings: Settings;
  readonly model: ModelSettings;
  readonly entries?: EntrySource | undefined;
  /** What the behaviour of the agents is given. */
  readonly data?: unknown;
  readonly files: ProgramFiles;
  /** The two programs of an implementation in another language. */
  readonly programs?: { readonly agent: Program; readonly caller: Program } | undefined;
  /** The ports of the proxies begin here. Default: any free ones. */
  readonly basePort?: number | undefined;
  /** Where private keys are while the run lasts. */
  readonly identityFolder: string;
  /** Where agents keep what survives their process. */
  readonly stateFolder: string;
  /** How long a process may take to start. */
  readonly startMs: number;
  emit(event: BenchEvent): void;
}

/** Faults that take longer to come and go than their window are an error of the harness. */
const LONGEST_FAULTS_MS = 600_000;

/** An agent process and how to start it again. */
interface AgentProcess {
  readonly name: string;
  readonly agents: readonly string[];
  worker: Worker;
  task: AgentTask;
  restarts: number;
}

/** The processes of one run: agents, a caller, and a proxy in the path of every edge. */
export class Stage {
  readonly now: RunClock;
  readonly #origin = clockOrigin();
  readonly #parts: StageParts;
  readonly #wire: Worker;
  readonly #caller: Worker;
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
  constructor(parts: StageParts) {
    this.#parts = parts;
    this.now = runClock(this.#origin);
    this.#wire = startWorker("wire", parts.files.wire);
    this.#meter = new ReconnectMeter({ counts: () => this.#wire.ask("counts"), emit: parts.emit });
    this.#caller = this.#start("caller", parts.files.caller);
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
    await Promise.all(
      this.#agents.filter(({ worker }) => !this.#stopped.has(worker.pid)).map(({ worker }) => worker.ask("flush")),
    );
    if (this.#nonsense !== undefined) throw this.#nonsense;
  }

  /** Records the bytes of each edge and the usage of each process. */
  async sample(phase: "warm-up" | "measure" | "end"): Promise<void> {
    const { run } = this.#parts.planned;
    const counts = await this.#wire.ask<Readonly<Record<string, EdgeCounts>>>("counts");
    for (const [edge, each] of Object.entries(counts)) this.#parts.emit({ type: "wire", run, edge, phase, ...each });
    const processes = [{ name: "caller", worker: this.#caller }, ...this.#agents].filter(
      ({ worker }) => !this.#stopped.has(worker.pid),
    );
    await Promise.all(
      processes.map(async ({ name, worker }) => {
        const { cpuUs, rssBytes }: Usage = await worker.usage();
        this.#parts.emit({ type: "usage", run, process: name, phase, cpuUs, rssBytes });
      }),
    );
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
    found.worker = this.#start(found.name, this.#parts.files.agent);
    found.restarts++;
    found.task = { ...found.task, restarts: found.restarts };
    await this.#begin(found);
  }

  /** Ends every process and waits until they are gone. */
  async close(): Promise<void> {
    this.#closing = true;
    const workers = [this.#caller, ...this.#agents.map(({ worker }) => worker), this.#wire];
    for (const worker of workers) worker.stop();
    await Promise.all(workers.map(({ ended }) => ended));
    this.#identities?.remove();
    rmSync(this.#parts.stateFolder, { recursive: true, force: true });
  }

  #start(name: string, file: string): Worker {
    if (this.#closing) throw new Error("the run was ended");
    return startWorker(name, file, { onNote: (note) => this.#take(name, note) });
  }

  /** Starts everything and connects the caller. */
  async open(): Promise<void> {
    const { settings, basePort, startMs, planned, files } = this.#parts;
    const placed = placeAgents(settings.agents);
    const names = placed.flat();
    this.#edges = edgesOf(names, settings.topology);
    const edges = this.#edges.map(({ name }, index) => ({ edge: name, port: basePort === undefined ? 0 : basePort + index }));
    const open: OpenEdges = { edges, seed: planned.seed };
    const ports = await this.#wire
      .ask<Readonly<Record<string, number>>>("open", open, startMs)
      .catch((thrown: unknown) => Promise.reject(portProblem(thrown)));
    const hostOf = (edge: string): string => `127.0.0.1:${ports[edge]}`;
    const urlOf = (agent: string): string => `http://${hostOf(edgeTo(agent))}`;
    const peersOf = (from: string) => {
      if (settings.topology === undefined) return {};
      const hosts = this.#edges.filter(({ to }) => to === from).map(({ name }) => hostOf(name));
      const peers = names.filter((to) => to !== from);
      return { hosts, peers: peers.map((agent) => ({ agent, url: `http://${hostOf(edgeBetween(from, agent))}` })) };
    };
    await this.#identify(names.map((agent) => ({ name: agent, endpoint: urlOf(agent) })));
    for (const [index, agents] of placed.entries()) {
      const name = `agents-${index + 1}`;
      const identityOf = (agent: string) => this.#identities?.files.get(agent);
      const task = this.#agentTask(
        agents.map((agent) => ({
          name: agent,
          publicUrl: urlOf(agent),
          port: 0,
          identity: identityOf(agent),
          ...peersOf(agent),
        })),
        names,
      );
      this.#agents.push({ name, agents, worker: this.#start(name, files.agent), task, restarts: 0 });
    }
    await Promise.all(this.#agents.map((each) => this.#begin(each)));
    await Promise.all(names.map((name) => this.setEdge(edgeTo(name), {})));
    await this.#connect(names.map((agent) => ({ agent, url: this.#addresses.get(agent) ?? urlOf(agent) })));
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
    const { startMs, planned, emit } = this.#parts;
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
    const { pid } = worker;
    emit({
      type: "process-started",
      run: planned.run,
      process: name,
      agents: [...agents],
      pid,
      ns: this.now(),
      restart: process.restarts,
    });
    emit({ type: "configuration", run: planned.run, process: name, values: { ...started.configuration } });
  }

  async #connect(targets: CallerTask["targets"]): Promise<void> {
    const { condition, entries, programs, startMs, planned, settings, emit } = this.#parts;
    const known = this.#identities;
    const identities = known && { records: known.records, own: known.files.get(CALLER) ?? "" };
    const task: CallerTask = {
      ...this.#runTask(),
      targets,
      load: condition.load,
      identities,
      entries,
      program: programs?.caller,
    };
    const configuration = await this.#caller.ask<Configuration>("connect", task, startMs + settings.connectTimeoutMs);
    const { pid } = this.#caller;
    emit({ type: "process-started", run: planned.run, process: "caller", agents: [], pid, ns: this.now(), restart: 0 });
    emit({ type: "configuration", run: planned.run, process: "caller", values: { ...configuration } });
  }

  #dose(): EdgeConditions {
    return { toAgentMs: this.#parts.arm.doseMs ?? 0 };
  }

  #processOf(agent: string): AgentProcess {
    const found = this.#agents.find(({ agents }) => agents.includes(agent));
    if (found === undefined) throw new Error(`there is no agent ${agent}`);
    return found;
  }

  #take(process: string, note: unknown): void {
    if (this.#closing) return;
    const notes = isNotes(note) ? note.notes : [note];
    for (const each of notes) {
      const read = BENCH_EVENT.safeParse(each);
      if (read.success && "run" in read.data && read.data.run === this.#parts.planned.run) {
        this.#parts.emit(read.data);
        if (read.data.type === "service" || read.data.type === "peer-service") this.#served.set(read.data.agent, this.now());
        // Without the wire process there is nothing left to count.
        if (read.data.type === "note") this.#meter.see(read.data).catch(() => undefined);
      } else this.#nonsense ??= new Error(`the process ${process} sent something that is no event of this run`);
    }
  }
}
