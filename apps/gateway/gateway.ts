import { randomBytes } from "node:crypto";
import { type Agent, AgentError, type Interface, type Maybe, type Server, serve } from "../../src/index.js";
import { describeSecurity } from "../../src/public/auth.js";
import { createInspector, type Inspector } from "../../src/public/inspect.js";
import { type Clock, systemClock } from "../../src/public/policies.js";
import { createMetrics, createTelemetry, type Telemetry } from "../../src/public/telemetry.js";
import { homeOf } from "./addresses.js";
import { AgentSupervisor, type SharedParts } from "./agent-supervisor.js";
import type { Gateway, GatewayDeps, ReloadReport } from "./api.js";
import type { GatewayConfig } from "./config.js";
import { createConsole, type GatewayConsole } from "./console.js";
import { refuseFixedChanges } from "./fixed-members.js";
import { type AgentLosses, type LossSource, lossesOf, lossSource } from "./losses.js";
import { Observations } from "./observations.js";
import { OwnCaller } from "./own-caller.js";
import { type Prepared, type PreparedAgent, prepare } from "./prepare.js";
import { checkReached, joined, reloadWords, reportOf } from "./reloading.js";
import { type GatewayResources, openResources } from "./resources.js";
import { changingOptions, fixedOptions } from "./serving.js";
import { type AgentStatus, statusOf } from "./status.js";
import { withoutUndefined } from "./without-undefined.js";

/** How long the connections of an agent that is no longer configured stay: as long as its calls may go on. */
const RETIRED_MS = 620_000;
const TOKEN_BYTES = 24;

/** Opens a gateway: reaches its upstreams, and serves them. */
export async function openGateway(config: GatewayConfig, deps: GatewayDeps = {}): Promise<Gateway> {
  const house = await openResources(config, deps.tell ?? (() => undefined));
  try {
    const running = new RunningGateway(house, await prepare(config, house.audit), deps);
    await running.open();
    return running;
  } catch (thrown) {
    await house.close();
    throw thrown;
  }
}

type HouseTools = Pick<SharedParts, "clock" | "random" | "newId" | "notes">;

class RunningGateway implements Gateway {
  readonly console: GatewayConsole;
  readonly #house: GatewayResources;
  readonly #deps: GatewayDeps;
  readonly #seen: Observations;
  readonly #inspector: Maybe<Inspector>;
  readonly #telemetry: Telemetry;
  readonly #own = new OwnCaller();
  readonly #pageToken: string;
  /** Made once where none is configured: sessions must not change their names at a reload. */
  readonly #secret: Uint8Array;
  readonly #clock: Clock;
  readonly #tools: HouseTools;
  #prepared: Prepared;
  #keepers: readonly AgentSupervisor[] = [];
  #served: readonly Agent[] = [];
  #server: Maybe<Server>;
  #reloading: Promise<unknown> = Promise.resolve();
  /** Agents that are no longer configured and may have calls under way, with what takes back the end of their connections. */
  readonly #retired = new Map<AgentSupervisor, () => void>();
  /** What agents lost that are gone for good, so that the report of the run has it. */
  #past: readonly LossSource[] = [];

  constructor(house: GatewayResources, prepared: Prepared, deps: GatewayDeps) {
    this.#house = house;
    this.#deps = deps;
    this.#prepared = prepared;
    this.#clock = deps.clock ?? systemClock;
    this.#seen = new Observations(() => this.#clock.now());
    this.#secret = prepared.secret ?? randomBytes(32);
    this.#pageToken = prepared.pageToken ?? randomBytes(TOKEN_BYTES).toString("base64url");
    const { metrics, inspect = true } = prepared.config.document;
    const base = createTelemetry({
      metrics: metrics === undefined ? undefined : createMetrics(),
      log: house.log,
      serves: (name) => this.#keepers.some((keeper) => keeper.name === name),
    });
    this.#inspector =
      inspect === false
        ? undefined
        : createInspector({
            limits: inspect === true ? undefined : withoutUndefined(inspect),
            ids: { newId: this.#newId },
            clock: this.#clock,
          });
    this.#telemetry = this.#inspector?.telemetry(base) ?? base;
    const watch = this.#telemetry.policies("gateway");
    this.#tools = {
      clock: this.#clock,
      random: deps.random ?? Math.random,
      newId: this.#newId,
      notes: watch === undefined ? this.#seen.notes : joined(watch, this.#seen.notes),
    };
    this.console = createConsole({
      seen: this.#seen,
      log: this.#inspector?.log,
      store: house.store,
      startedAt: this.#clock.now(),
      keepers: () => this.#keepers,
      interfaces: (agent) => this.interfaces(agent),
      own: this.#own,
      home: () => homeOf(prepared.config.document.listen?.host, this.port),
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
    return this.#hasPage ? `${this.url}/koine/#token=${this.#pageToken}` : undefined;
  }

  get durability(): string {
    return this.#house.store.durability;
  }

  get callers(): string {
    return this.#prepared.door.words;
  }

  get security(): Gateway["security"] {
    return describeSecurity(this.#prepared.door.admission);
  }

  get warnings(): readonly string[] {
    return this.#prepared.warnings;
  }

  get #running(): Server {
    if (this.#server === undefined) throw new AgentError("internal", "the gateway is not open");
    return this.#server;
  }

  get #hasPage(): boolean {
    return this.#inspector !== undefined && this.#prepared.config.document.page !== false;
  }

  readonly #newId = (): string => this.#deps.newId?.() ?? crypto.randomUUID();

  agents(): readonly AgentStatus[] {
    return this.#keepers.map((keeper) => statusOf(keeper, this.interfaces(keeper.name)));
  }

  interfaces(agent: string): readonly Interface[] {
    return this.#running.interfaces(agent);
  }

  losses(): readonly AgentLosses[] {
    return lossesOf([...this.#past, ...this.#retired.keys(), ...this.#keepers]);
  }

  async open(): Promise<void> {
    this.#keepers = this.#prepared.agents.map((agent) => this.#keeperFor(agent, this.#prepared));
    try {
      await Promise.all(this.#keepers.map((keeper) => keeper.start()));
      checkReached(this.#keepers, this.#deps.requireUpstreams === true);
      this.#served = this.#keepers.map(({ agent }) => agent);
      this.#server = await serve(this.#served, {
        ...fixedOptions(this.#prepared, this.#house),
        ...this.#options(this.#prepared),
      });
    } catch (thrown) {
      await Promise.all(this.#keepers.map((keeper) => keeper.close()));
      throw thrown;
    }
    this.#serveAnew();
  }

  reload(config: GatewayConfig): Promise<ReloadReport> {
    const next = this.#reloading.then(() => this.#reload(config));
    this.#reloading = next.catch(() => undefined);
    return next;
  }

  async close(): Promise<void> {
    await this.#reloading;
    for (const keeper of this.#keepers) keeper.stop();
    // The port waits for streams under way, and whoever looks at messages would look for ever.
    this.#inspector?.close();
    this.console.close();
    await this.#server?.close();
    for (const takeBack of this.#retired.values()) takeBack();
    await Promise.all([...this.#keepers, ...this.#retired.keys()].map((keeper) => keeper.close()));
    await this.#house.close();
  }

  async #reload(config: GatewayConfig): Promise<ReloadReport> {
    refuseFixedChanges(this.#prepared.config, config);
    const prepared = await prepare(config, this.#house.audit);
    const before = new Map(this.#keepers.map((keeper) => [keeper.name, keeper]));
    const fresh: AgentSupervisor[] = [];
    const keepers = prepared.agents.map((agent) => {
      const keeper = this.#keeperFor(agent, prepared);
      const old = before.get(keeper.name);
      if (old?.fingerprint === keeper.fingerprint) return old;
      fresh.push(keeper);
      return keeper;
    });
    try {
      await Promise.all(fresh.map((keeper) => keeper.start()));
      checkReached(fresh, this.#deps.requireUpstreams === true);
      const served = keepers.map(({ agent }) => agent);
      if (prepared.tls !== undefined) this.#running.reload(prepared.tls);
      this.#running.replace(served, this.#options(prepared));
      this.#served = served;
    } catch (thrown) {
      await Promise.all(fresh.map((keeper) => keeper.close()));
      if (this.#prepared.tls !== undefined) this.#running.reload(this.#prepared.tls);
      throw thrown;
    }
    const gone = this.#keepers.filter((keeper) => !keepers.includes(keeper));
    this.#prepared = prepared;
    this.#keepers = keepers;
    for (const keeper of gone) this.#retire(keeper);
    this.#serveAnew();
    const report = reportOf([...before.values()], keepers, prepared.warnings);
    this.#seen.say("reload", "gateway", reloadWords(report));
    return report;
  }

  #keeperFor(agent: PreparedAgent, { config, cardKeys }: Prepared): AgentSupervisor {
    const parts: SharedParts = {
      ...this.#tools,
      telemetry: this.#telemetry,
      secret: this.#secret,
      publicUrl: config.document.listen?.publicUrl,
      signsCards: cardKeys.length > 0,
    };
    let health = "starting";
    const keeper: AgentSupervisor = new AgentSupervisor(agent, parts, () => {
      if (keeper.health !== health) {
        health = keeper.health;
        const why = keeper.problem === undefined ? "" : `: ${keeper.problem.message}`;
        this.#seen.say("health", keeper.name, `is ${health}${why}`);
      }
      this.#serveAnew();
      this.#seen.changed();
    });
    return keeper;
  }

  /** What stands for an agent changes when it is reached for the first time, and when its card does. */
  #serveAnew(): void {
    const server = this.#server;
    const agents = this.#keepers.map(({ agent }) => agent);
    if (server === undefined || agents.every((agent, index) => agent === this.#served[index])) return;
    try {
      server.replace(agents, this.#options(this.#prepared));
      this.#served = agents;
    } catch (thrown) {
      this.#seen.say("refused", "gateway", AgentError.from(thrown).message);
      this.#deps.tell?.(`An agent was not taken into use: ${AgentError.from(thrown).message}`);
    }
  }

  #options(prepared: Prepared): ReturnType<typeof changingOptions> {
    return changingOptions(prepared, {
      own: this.#own,
      telemetry: this.#telemetry,
      seen: this.#seen,
      tools: this.#tools,
      console: this.console,
      log: this.#inspector?.log,
      pageToken: this.#pageToken,
      onError: this.#deps.onError,
    });
  }

  #retire(keeper: AgentSupervisor): void {
    keeper.stop();
    const takeBack = this.#clock.after(RETIRED_MS, () => {
      this.#retired.delete(keeper);
      this.#past = lossesOf([...this.#past, keeper]).map(lossSource);
      void keeper.close();
    });
    this.#retired.set(keeper, takeBack);
  }
}
