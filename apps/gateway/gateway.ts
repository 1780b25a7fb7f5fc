import { randomBytes } from "node:crypto";
import { type Agent, AgentError, type Interface, type Maybe, type Server, serve } from "../../src/index.js";
import { auditFloor, newOperatorToken } from "../../src/internal.js";
import { describeSecurity } from "../../src/public/auth.js";
import { type Clock, systemClock } from "../../src/public/policies.js";
import { localUrl } from "./addresses.js";
import { HealthChanges } from "./agent-health.js";
import { AgentSupervisor, type SharedParts } from "./agent-supervisor.js";
import type { Gateway, GatewayDeps, ReloadReport } from "./api.js";
import type { GatewayConfig } from "./config.js";
import { createConsole, type GatewayConsole } from "./console.js";
import { rejectFixedChanges } from "./fixed-members.js";
import { type GatewayTelemetry, gatewayTelemetry } from "./gateway-telemetry.js";
import { type AgentLosses, type LossSource, lossesOf, lossSource } from "./losses.js";
import { Observations } from "./observations.js";
import { PageCaller } from "./page-caller.js";
import { type Prepared, type PreparedAgent, prepare } from "./prepare.js";
import { assertReachable, combineSinks, reloadSummary, reportOf } from "./reloading.js";
import { type GatewayResources, openResources } from "./resources.js";
import { adminOptions, changingOptions, fixedOptions, type ServingParts } from "./serving.js";
import { type AgentStatus, statusOf } from "./status.js";
import { GATEWAY } from "./upstream-monitor.js";

/** Starts a gateway: connects to its upstreams and serves them. */
export async function openGateway(config: GatewayConfig, deps: GatewayDeps = {}): Promise<Gateway> {
  const resources = await openResources(config, deps.notify ?? (() => undefined), deps.store);
  try {
    const running = new RunningGateway(
      resources,
      await prepare(config, resources.audit, () => (deps.clock ?? systemClock).now()),
      deps,
    );
    await running.open();
    return running;
  } catch (thrown) {
    await resources.close();
    throw thrown;
  }
}

class RunningGateway implements Gateway {
  readonly console: GatewayConsole;
  readonly #resources: GatewayResources;
  readonly #deps: GatewayDeps;
  readonly #observations: Observations;
  readonly #observed: GatewayTelemetry;
  readonly #pageCaller = new PageCaller();
  readonly #adminToken: string;
  /** Generated once if none is configured: pseudonyms must survive a reload. */
  readonly #secret: Uint8Array;
  readonly #clock: Clock;
  readonly #tools: Pick<SharedParts, "clock" | "random" | "newId" | "notes" | "choices" | "records">;
  #prepared: Prepared;
  #supervisors: readonly AgentSupervisor[] = [];
  #served: readonly Agent[] = [];
  #server: Maybe<Server>;
  #reloading: Promise<unknown> = Promise.resolve();
  /** Removed agents that may have calls in progress. */
  readonly #retired = new Set<AgentSupervisor>();
  /** Losses of closed agents, for the report of the whole run. */
  #pastLosses: readonly LossSource[] = [];

  constructor(resources: GatewayResources, prepared: Prepared, deps: GatewayDeps) {
    this.#resources = resources;
    this.#deps = deps;
    this.#prepared = prepared;
    this.#clock = deps.clock ?? systemClock;
    this.#observations = new Observations(() => this.#clock.now());
    this.#secret = prepared.secret ?? randomBytes(32);
    this.#adminToken = prepared.adminToken ?? newOperatorToken();
    this.#observed = gatewayTelemetry(prepared.config.document, {
      log: resources.log,
      clock: this.#clock,
      newId: this.#newId,
      serves: (name) => this.#supervisors.some((supervisor) => supervisor.name === name),
    });
    this.#tools = {
      clock: this.#clock,
      random: deps.random ?? Math.random,
      newId: this.#newId,
      choices: resources.choices,
      records: resources.store.records,
      notes: combineSinks([
        this.#observed.telemetry.policies(GATEWAY),
        auditFloor(resources.audit, this.#clock),
        this.#observations.notes,
      ]),
    };
    this.console = createConsole({
      observations: this.#observations,
      log: this.#observed.inspector?.log,
      store: resources.store,
      startedAt: this.#clock.now(),
      supervisors: () => this.#supervisors,
      interfaces: (agent) => this.interfaces(agent),
      pageCaller: this.#pageCaller,
      localUrl: () => localUrl(prepared.config.document.listen?.host, this.port),
      secure: prepared.tls !== undefined,
      now: () => this.#clock.now(),
    });
  }

  get url(): string {
    return this.#running.url;
  }

  get port(): number {
    return this.#running.port;
  }

  get pageUrl(): Maybe<string> {
    const { admin } = this.#running;
    return admin !== undefined && this.#hasPage ? `${admin.url}/koine/#token=${admin.token}` : undefined;
  }

  get admin(): Gateway["admin"] {
    const { admin } = this.#running;
    return admin && { ...admin, generated: this.#prepared.adminToken === undefined };
  }

  get durability(): string {
    return this.#resources.store.durability;
  }

  get callers(): string {
    return this.#prepared.callerAdmission.description;
  }

  get security(): Gateway["security"] {
    return describeSecurity(this.#prepared.callerAdmission.admission);
  }

  get warnings(): readonly string[] {
    return this.#prepared.warnings;
  }

  get #running(): Server {
    if (this.#server === undefined) throw new AgentError("internal", "The gateway is not started");
    return this.#server;
  }

  get #hasPage(): boolean {
    return this.#observed.inspector !== undefined && this.#prepared.config.document.page !== false;
  }

  readonly #newId = (): string => this.#deps.newId?.() ?? crypto.randomUUID();

  agents(): readonly AgentStatus[] {
    return this.#supervisors.map((supervisor) => statusOf(supervisor, this.interfaces(supervisor.name)));
  }

  interfaces(agent: string): readonly Interface[] {
    return this.#running.interfaces(agent);
  }

  losses(): readonly AgentLosses[] {
    return lossesOf([...this.#pastLosses, ...this.#retired, ...this.#supervisors]);
  }

  async open(): Promise<void> {
    await this.#observed.open(this.#prepared.config, this.#deps.notify);
    this.#supervisors = this.#prepared.agents.map((agent) => this.#supervisorFor(agent, this.#prepared));
    try {
      await Promise.all(this.#supervisors.map((supervisor) => supervisor.start()));
      assertReachable(this.#supervisors, this.#deps.requireUpstreams === true);
      this.#served = this.#supervisors.map(({ agent }) => agent);
      const admin = adminOptions(this.#prepared, this.#parts, () => this.#prepared.callerAdmission.admission);
      this.#server = await serve(this.#served, {
        ...fixedOptions(this.#prepared, this.#resources),
        ...this.#options(this.#prepared),
        ...(admin === undefined ? {} : { admin }),
      });
    } catch (thrown) {
      await Promise.all([...this.#supervisors, this.#observed].map((each) => each.close()));
      throw thrown;
    }
    this.#replaceServed();
  }

  reload(config: GatewayConfig): Promise<ReloadReport> {
    const next = this.#reloading.then(() => this.#reload(config));
    this.#reloading = next.catch(() => undefined);
    return next;
  }

  async close(): Promise<void> {
    await this.#reloading;
    for (const supervisor of this.#supervisors) supervisor.stop();
    // The server waits for open streams, and message feeds never end by themselves.
    this.#observed.inspector?.close();
    this.console.close();
    await this.#server?.close();
    await Promise.all([...this.#supervisors, ...this.#retired].map((supervisor) => supervisor.close()));
    await Promise.all([this.#observed.close(), this.#resources.close()]);
  }

  async #reload(config: GatewayConfig): Promise<ReloadReport> {
    rejectFixedChanges(this.#prepared.config, config);
    const prepared = await prepare(config, this.#resources.audit, () => this.#clock.now());
    const before = new Map(this.#supervisors.map((supervisor) => [supervisor.name, supervisor]));
    const fresh: AgentSupervisor[] = [];
    const supervisors = prepared.agents.map((agent) => {
      const supervisor = this.#supervisorFor(agent, prepared);
      const old = before.get(supervisor.name);
      if (old?.fingerprint === supervisor.fingerprint) return old;
      fresh.push(supervisor);
      return supervisor;
    });
    let callsEnded: Promise<void>;
    try {
      await Promise.all(fresh.map((supervisor) => supervisor.start()));
      assertReachable(fresh, this.#deps.requireUpstreams === true);
      const served = supervisors.map(({ agent }) => agent);
      this.#reloadTls(prepared);
      callsEnded = this.#running.replace(served, this.#options(prepared));
      this.#served = served;
    } catch (thrown) {
      await Promise.all(fresh.map((supervisor) => supervisor.close()));
      this.#reloadTls(this.#prepared);
      throw thrown;
    }
    const gone = this.#supervisors.filter((supervisor) => !supervisors.includes(supervisor));
    this.#prepared = prepared;
    this.#supervisors = supervisors;
    for (const supervisor of gone) this.#retire(supervisor, callsEnded);
    this.#replaceServed();
    const report = reportOf([...before.values()], supervisors, prepared.warnings);
    this.#observations.record("reload", "gateway", reloadSummary(report));
    return report;
  }

  #reloadTls({ tls, adminTls }: Prepared): void {
    if (tls !== undefined) this.#running.reload(tls);
    if (adminTls !== undefined) this.#running.reloadAdmin(adminTls);
  }

  #supervisorFor(agent: PreparedAgent, { config, cardKeys }: Prepared): AgentSupervisor {
    const parts: SharedParts = {
      ...this.#tools,
      telemetry: this.#observed.telemetry,
      secret: this.#secret,
      publicUrl: config.document.listen?.publicUrl,
      signsCards: cardKeys.length > 0,
    };
    const changes = new HealthChanges({
      record: (name, summary) => this.#observations.record("health", name, summary),
      notify: () => (this.#server === undefined ? undefined : this.#deps.notify), // the start report has it
      log: this.#resources.log,
      now: () => this.#clock.now(),
    });
    const supervisor: AgentSupervisor = new AgentSupervisor(agent, parts, () => {
      changes.report(supervisor);
      this.#replaceServed();
      this.#observations.changed();
    });
    return supervisor;
  }

  /** Updates the server when an agent's bridge is created or its card changes. */
  #replaceServed(): void {
    this.#observed.gauges.report(this.#supervisors.flatMap(({ upstreams }) => upstreams));
    const server = this.#server;
    const agents = this.#supervisors.map(({ agent }) => agent);
    if (server === undefined || agents.every((agent, index) => agent === this.#served[index])) return;
    try {
      void server.replace(agents, this.#options(this.#prepared));
      this.#served = agents;
    } catch (thrown) {
      this.#observations.record("refused", "gateway", AgentError.from(thrown).message);
      this.#deps.notify?.(`Agent update rejected; still serving the previous one: ${AgentError.from(thrown).message}`);
    }
  }

  #options(prepared: Prepared): ReturnType<typeof changingOptions> {
    return changingOptions(prepared, this.#parts);
  }

  get #parts(): ServingParts {
    return {
      pageCaller: this.#pageCaller,
      telemetry: this.#observed.telemetry,
      observations: this.#observations,
      tools: this.#tools,
      console: this.console,
      log: this.#observed.inspector?.log,
      adminToken: this.#adminToken,
      onError: this.#deps.onError,
    };
  }

  #retire(supervisor: AgentSupervisor, callsEnded: Promise<void>): void {
    supervisor.stop();
    this.#retired.add(supervisor);
    void callsEnded.then(() => {
      this.#retired.delete(supervisor);
      this.#pastLosses = lossesOf([...this.#pastLosses, supervisor]).map(lossSource);
      return supervisor.close();
    });
  }
}
