import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type BenchOptions,
  type IdentityUse,
  makePlan,
  type Plan,
  planArms,
  planConditions,
  type Scenario,
  type Settings,
  scenarios,
} from "../../bench/protocols/index.js";
import { protocols } from "../../src/public/protocols.js";
import { compiled } from "../programs.js";

/** Benchmarks for tests: few requests, and the compiled processes. */

export const SETTINGS: Settings = {
  runs: 1,
  warmUpMs: 0,
  measureMs: 20_000,
  requests: 8,
  seed: 11,
  agents: 1,
  payloadBytes: 64,
  model: "null",
  connectTimeoutMs: 20_000,
  messageTimeoutMs: 20_000,
  retries: 0,
  backoffMs: 10,
  freeze: [],
};

export interface TestPlan {
  readonly protocols?: readonly string[];
  readonly settings?: Partial<Settings>;
  readonly faults?: Parameters<typeof planConditions>[0]["faults"];
  readonly features?: readonly ("envelope" | "full")[];
  readonly rates?: readonly number[];
  readonly identitiesOf?: (protocol: string) => IdentityUse;
  /** Default: echo. */
  readonly scenario?: Scenario;
  readonly clients?: number;
  readonly agents?: readonly number[];
  /** Default: true. */
  readonly controls?: boolean;
}

export function testPlan(choice: TestPlan = {}): Plan {
  const { protocols: ids, settings, faults = [], features = ["envelope"], rates = [], identitiesOf } = choice;
  const { scenario = scenarios.echo, clients = 1, agents = [], controls = true } = choice;
  const wanted = ids ?? protocols.map(({ id }) => id).slice(0, 1);
  return makePlan({
    scenario,
    mode: "custom",
    settings: { ...SETTINGS, ...settings },
    arms: planArms(
      { protocols: wanted, implementations: ["koine"], features, ...(identitiesOf && { identitiesOf }) },
      scenario,
    ).filter(({ control }) => controls || control === undefined),
    conditions: planConditions({
      clients,
      agents,
      rates: rates.map((perSecond) => ({ perSecond })),
      arrivals: "constant",
      inFlight: 64,
      faults,
    }),
  });
}

const process = (name: string): string => compiled(`bench/protocols/processes/${name}.ts`);
export const PROCESSES = { agent: process("agent"), caller: process("caller"), wire: process("wire") };

/** A folder that is removed after the test. */
export async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "koine-bench-"));
  try {
    await test(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export function options(folder: string, plan: Plan, more: Partial<BenchOptions> = {}): BenchOptions {
  return {
    folder: join(folder, "result"),
    plan,
    model: { kind: "null" },
    files: PROCESSES,
    koine: "test",
    signal: new AbortController().signal,
    ...more,
  };
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie is dead: only nobody has asked for its end yet.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}
