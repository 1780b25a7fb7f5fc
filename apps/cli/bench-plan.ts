import {
  edgeTo,
  hasOfficial,
  type IdentityUse,
  type ModelSettings,
  makePlan,
  type Plan,
  type PlannedFault,
  planArms,
  planConditions,
  type Routing,
  routerArm,
  type Scenario,
  type Settings,
  scheduleFaults,
} from "../../bench/protocols/index.js";
import { protocols } from "../../src/public/protocols.js";
import { offeredLoads, type Rate } from "./bench-capacity.js";
import type { DocqaOptions, DocqaParts } from "./bench-docqa.js";
import { type QueueEntries, queueEntries } from "./bench-entries.js";
import { chosenSettings, killedCoordinator, type SettingOptions } from "./bench-settings.js";
import { RING_RATE, type StormOptions, stormConditions, stormSettings } from "./bench-storm.js";
import { usageError } from "./exit.js";
import type { ModelOptions } from "./model.js";
import type { Format } from "./output.js";

/** The options of `koine bench <scenario>`. */
export interface ScenarioOptions extends ModelOptions, SettingOptions, DocqaOptions, StormOptions {
  readonly output: Format;
  readonly protocols?: readonly string[];
  readonly router?: boolean;
  readonly ranking?: string;
  readonly impl: Plan["arms"][number]["implementation"][];
  readonly features: Plan["arms"][number]["features"][];
  readonly quick?: boolean;
  /** False: without the arms that only show whether times can be believed. Default: with them. */
  readonly controls?: boolean;
  readonly runs?: number;
  /** Milliseconds; the option is in seconds. */
  readonly warmUp?: number;
  /** Milliseconds; the option is in seconds. */
  readonly measure?: number;
  readonly requests?: number;
  readonly seed?: number;
  readonly clients?: number;
  readonly rate?: readonly Rate[];
  readonly arrivals: "poisson" | "constant";
  readonly agents?: number;
  readonly workers?: readonly number[];
  readonly payload?: number;
  readonly faults?: readonly PlannedFault["kind"][];
  /** Milliseconds; the option is in seconds. */
  readonly faultEvery?: number;
  readonly out?: string;
  readonly force?: boolean;
  readonly resume?: boolean;
  readonly basePort?: number;
  readonly serviceMs?: readonly number[];
  readonly serviceSpread?: number;
  readonly recording?: string;
  readonly record?: string;
  readonly modelRate?: number;
  /** Live models by name; the first is that of every other condition. */
  readonly models?: readonly string[];
}

export const SEED = 1;
const SERVICE_MS = 20;
const PAYLOAD_BYTES = 256;
const IN_FLIGHT = 256;
/** A ring that is slower than its questions come would only get slower with more of them under way. */
const RING_IN_FLIGHT = 16;
const DELAY_MS = 50;
const LOSS = 0.05;
const MAX_AGENTS = 256;
const MAX_PAYLOAD = 1024 * 1024;

interface PlanFacts {
  readonly entries: QueueEntries | undefined;
  readonly docqa?: DocqaParts | undefined;
  readonly routing?: Routing | undefined;
  /** Before it is measured, any number will do: the plan is made again afterwards. */
  readonly capacityPerS?: number;
}

/** What is measured, and in which order. */
export function planOf(
  scenario: Scenario,
  options: ScenarioOptions,
  { entries, docqa, routing, capacityPerS = 1 }: PlanFacts,
): Plan {
  const sizes = options.quick === true ? scenario.quick : scenario.full;
  const [workers = scenario.agents, ...sizesToCompare] = options.workers ?? [];
  const agents = limited(
    options.workers === undefined ? "--agents" : "--workers",
    docqa?.agents ?? options.agents ?? workers,
    MAX_AGENTS,
  );
  const common: Settings = {
    runs: options.runs ?? sizes.runs,
    warmUpMs: options.warmUp ?? sizes.warmUpMs,
    measureMs: options.measure ?? sizes.measureMs,
    requests: entries?.count ?? options.requests ?? sizes.requests,
    seed: options.seed ?? SEED,
    agents,
    dispatch: scenario.dispatch,
    ...(scenario.topology === undefined ? {} : { topology: scenario.topology }),
    ...(scenario.behaviour === undefined ? {} : { behaviour: scenario.behaviour }),
    ...(docqa === undefined ? {} : { budgetMs: docqa.budgetMs }),
    payloadBytes: entries === undefined ? limited("--payload", options.payload ?? PAYLOAD_BYTES, MAX_PAYLOAD) : 0,
    model: options.answers,
    ...(options.answers === "scripted" ? { service: serviceOf(options) } : {}),
    ...chosenSettings(scenario, options),
  };
  const settings = isRing(scenario) ? stormSettings(common, options) : common;
  const changed = [options.runs, options.warmUp, options.measure, options.requests].some((value) => value !== undefined);
  const singles = planArms(
    {
      protocols: protocolsOf(options.protocols),
      implementations: options.impl,
      features: options.features,
      // One that was asked for by name and has none is an error, which the caller of this reports.
      hasOfficial: (protocol) => options.protocols?.includes(protocol) === true || hasOfficial(protocol),
      identitiesOf,
    },
    scenario,
  );
  const measured = singles.filter(({ control }) => control === undefined || options.controls !== false);
  const arms =
    routing === undefined || routing.infeasible !== undefined ? measured : [...measured, routerArm(scenario.name, routing)];
  const loads = planConditions({
    // As many requests as all workers take. More workers are measured with the same traffic.
    clients: options.clients ?? (scenario.dispatch === "queue" ? agents * (options.perWorker ?? 1) : 1),
    agents: sizesToCompare.map((each) => limited("--workers", each, MAX_AGENTS)),
    coordinator: killedCoordinator(options, settings.requests),
    rates: offeredLoads(ratesOf(scenario, options), capacityPerS),
    arrivals: options.arrivals,
    inFlight: isRing(scenario) ? RING_IN_FLIGHT : IN_FLIGHT,
    serviceMs: options.answers === "scripted" ? (options.serviceMs?.slice(1) ?? []) : [],
    models: options.answers === "live" ? (options.models?.slice(1) ?? []) : [],
    disturb: docqa?.disturb ?? [],
    faults: (options.faults ?? []).map((kind) => ({ name: kind, planned: faultsOf(kind, settings, options) })),
  });
  const conditions = isRing(scenario) ? stormConditions(loads, options, settings) : loads;
  const mode = options.quick === true ? "quick" : changed ? "custom" : "full";
  return makePlan({ scenario, mode, settings, arms, conditions, questions: docqa?.questions, routing });
}

/** A ring is asked steadily, unless the user says otherwise. */
function ratesOf(scenario: Scenario, { rate, clients }: ScenarioOptions): readonly Rate[] {
  return rate ?? (isRing(scenario) && clients === undefined ? [{ perSecond: RING_RATE }] : []);
}

/** Whether agents answer in a ring, under faults. */
export function isRing({ dispatch }: Scenario): boolean {
  return dispatch === "ring";
}

/** The service times of scripted answers. */
export function serviceOf({ serviceMs, serviceSpread }: ScenarioOptions): NonNullable<Settings["service"]> {
  return { meanMs: serviceMs?.[0] ?? SERVICE_MS, ...(serviceSpread === undefined ? {} : { spread: serviceSpread }) };
}

/** The entries of a queue. */
export function entriesOf({ quick, full, prompts }: Scenario, options: ScenarioOptions): QueueEntries {
  const { data, requests, seed = SEED } = options;
  const found = queueEntries({ data, wanted: requests, fallback: (options.quick === true ? quick : full).requests, seed });
  return usesPrompts(options.answers) ? { ...found, source: { ...found.source, prompt: prompts?.task } } : found;
}

function limited(option: string, value: number, most: number): number {
  if (value < 1 || value > most) throw usageError(`${option} takes a number from 1 to ${most}, not ${value}`);
  return value;
}

/** The protocols that are measured. */
export function protocolsOf(wanted: readonly string[] | undefined): readonly string[] {
  const measured = protocols.map(({ id }) => id);
  const unknown = wanted?.find((id) => !measured.includes(id));
  if (unknown === undefined) return wanted ?? measured;
  throw usageError(`there is no protocol ${unknown}`, `Choose from ${measured.join(", ")}.`);
}

/** One that is spoken between identities has them; one that can do without is measured both ways. */
function identitiesOf(protocol: string): IdentityUse {
  const found = protocols.find(({ id }) => id === protocol);
  return found?.needsIdentity === true ? "always" : found?.usesIdentity === true ? "also" : "never";
}

function faultsOf(kind: PlannedFault["kind"], settings: Settings, { faultEvery, downFor }: ScenarioOptions): PlannedFault[] {
  const everyMs = faultEvery ?? settings.measureMs / 4;
  const agents = Array.from({ length: settings.agents }, (_, index) => `agent-${index + 1}`);
  const isNetwork = kind === "delay" || kind === "loss" || kind === "partition";
  return scheduleFaults(
    {
      kind,
      targets: isNetwork ? agents.map(edgeTo) : agents,
      fraction: 0,
      everyMs,
      forMs: downFor ?? everyMs / 2,
      untilMs: settings.measureMs,
      ...(kind === "delay" ? { delayMs: DELAY_MS } : {}),
      ...(kind === "loss" ? { share: LOSS } : {}),
    },
    settings.seed,
  );
}

/** Only what a model answers, now or when it was recorded, is asked with prompts. */
export function usesPrompts(answers: ModelSettings["kind"]): boolean {
  return answers === "live" || answers === "recorded";
}
