import { chance } from "../../bench/harness/chance.js";
import {
  type Arm,
  type BenchEvent,
  type BenchResult,
  type Condition,
  type Manifest,
  SCHEMA_VERSION,
  summarise,
} from "../../bench/protocols/result/index.js";
import { samplePlan, sampleRequest } from "./bench-events.js";

/** Invented results for tests of the report: latencies with a spread and a tail, so that charts have a shape. */

export interface InventedArm {
  readonly id: string;
  /** Microseconds that the protocol adds. */
  readonly addedUs: number;
}

export interface Invented {
  readonly arms?: readonly InventedArm[];
  readonly runs?: number;
  readonly requests?: number;
  /** Offered loads of an open loop; none: one client in a closed loop. */
  readonly loads?: readonly number[];
  readonly mode?: "quick" | "full";
}

const ARMS: readonly InventedArm[] = [
  { id: "alpha", addedUs: 300 },
  { id: "beta", addedUs: 320 },
  { id: "gamma", addedUs: 900 },
  { id: "delta", addedUs: 1_700 },
];

const CAPACITY_PER_S = 1_000;

/** Waiting grows as the load nears what an arm can carry. */
function waitingUs(addedUs: number, { load }: Condition): number {
  if (load.loop === "closed") return 0;
  const used = Math.min(0.97, load.perSecond / (CAPACITY_PER_S / (1 + addedUs / 2_000)));
  return (400 * used) / (1 - used);
}

export function inventedEvents({ arms = ARMS, runs = 8, requests = 60, loads = [], mode = "full" }: Invented = {}): BenchEvent[] {
  const first = arms[0]?.id ?? "";
  const conditions: Condition[] =
    loads.length === 0
      ? [{ id: "closed-1", load: { loop: "closed", clients: 1 }, faults: [] }]
      : loads.map((perSecond) => ({
          id: `open-${perSecond}`,
          load: { loop: "open", perSecond, arrivals: "poisson", inFlight: 256 },
          faults: [],
        }));
  const plain = (id: string): Arm => ({ id, protocol: id, implementation: "koine", features: "envelope" });
  const all: readonly (Arm & { readonly addedUs: number })[] = [
    ...arms.map(({ id, addedUs }) => ({ ...plain(id), addedUs })),
    { ...plain(`${first} again`), protocol: first, control: "same", of: first, addedUs: arms[0]?.addedUs ?? 0 },
    {
      ...plain(`${first} +5 ms`),
      protocol: first,
      control: "dose",
      of: first,
      doseMs: 5,
      addedUs: (arms[0]?.addedUs ?? 0) + 5_000,
    },
  ];
  const base = samplePlan();
  const plan = {
    ...base,
    mode,
    settings: { ...base.settings, runs, requests },
    arms: all.map(({ addedUs: _added, ...arm }) => arm),
    conditions,
    runs: Array.from({ length: runs }, (_, block) =>
      conditions.flatMap((condition, number) =>
        all.map(({ id }, position) => ({
          run: `b${block}-${number}-${position}`,
          block,
          position,
          arm: id,
          condition: condition.id,
          seed: block,
        })),
      ),
    ).flat(),
  };
  const random = chance(11);
  return [
    { type: "plan", plan },
    ...plan.runs.flatMap(({ run, arm, condition }): readonly BenchEvent[] => {
      const under = conditions.find(({ id }) => id === condition);
      const added = all.find(({ id }) => id === arm)?.addedUs ?? 0;
      const usual = added + (under === undefined ? 0 : waitingUs(added, under)) + 60 * random();
      const tail = () => usual * (1 + 0.5 * random() ** 6) - 40 * Math.log(1 - random());
      return runEvents(run, Array.from({ length: requests }, tail), under);
    }),
  ];
}

const NS_PER_S = 1_000_000_000;

function runEvents(run: string, added: readonly number[], condition: Condition | undefined): readonly BenchEvent[] {
  const wire = { type: "wire", run, edge: "caller>agent-1", connections: 1 } as const;
  const usage = { type: "usage", run, process: "agent-1", rssBytes: 52_000_000 } as const;
  const sum = added.reduce((total, each) => total + each + 1_000, 0);
  const perSecond = condition?.load.loop === "open" ? condition.load.perSecond : (added.length * 1_000_000) / sum;
  const mean = sum / added.length;
  return [
    { type: "run-started", run, attempt: 1, at: "2026-01-01T00:00:00.000Z" },
    { type: "configuration", run, process: "caller", values: { messageTimeoutMs: 30_000 } },
    { type: "phase", run, phase: "measure", ns: 0 },
    { ...wire, phase: "measure", sent: 0, received: 0 },
    { ...usage, phase: "measure", cpuUs: 0 },
    ...added.flatMap((us, seq) => sampleRequest(run, seq, us)),
    { type: "phase", run, phase: "end", ns: Math.round((NS_PER_S * added.length) / perSecond) },
    {
      ...wire,
      phase: "end",
      sent: Math.round(added.length * (300 + mean / 10)),
      received: Math.round(added.length * (300 + mean / 12)),
    },
    { ...usage, phase: "end", cpuUs: added.length * mean * 0.2 },
    { type: "run-ended", run, attempt: 1, status: "complete", seconds: 3 },
  ];
}

export function inventedResult(options: Invented = {}): BenchResult {
  return summarise(inventedEvents(options));
}

export function inventedManifest({ plan }: BenchResult): Manifest {
  const sha256 = "ab".repeat(32);
  return {
    schema: SCHEMA_VERSION,
    koine: "0.1.0",
    commit: "0123456789abcdef0123456789abcdef01234567",
    dirty: true,
    lock: sha256,
    node: "v20.20.2",
    versions: { koine: "0.1.0" },
    machine: {
      system: "Linux",
      kernel: "6.1.0",
      architecture: "x64",
      cpu: "Invented CPU at 3 GHz",
      cores: 8,
      governor: null,
      memoryBytes: 16_000_000_000,
      clock: "monotonic",
    },
    loadBefore: 0.12,
    loadAfter: 1.4,
    startedAt: "2026-01-01T00:00:00.000Z",
    endedAt: "2026-01-01T00:04:00.000Z",
    scenario: plan.scenario,
    settings: plan.settings,
    blockOrder: [plan.arms.map(({ id }) => id)],
    protection: null,
    inputs: [],
    decoding: null,
    events: { lines: 1_000, bytes: 100_000, sha256 },
  };
}
