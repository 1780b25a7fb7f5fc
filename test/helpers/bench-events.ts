import type { BenchEvent, RequestEvent, ServiceEvent } from "../../bench/protocols/result/event.js";
import { type Arm, type Plan, SCHEMA_VERSION } from "../../bench/protocols/result/plan.js";

/** Invented events for tests: three arms, two blocks, ten requests of known durations each. */

const US = 1_000;
export const ARMS: readonly Arm[] = [
  { id: "one", protocol: "one", implementation: "koine", features: "envelope" },
  { id: "one again", protocol: "one", implementation: "koine", features: "envelope", control: "same", of: "one" },
  { id: "one +5 ms", protocol: "one", implementation: "koine", features: "envelope", control: "dose", of: "one", doseMs: 5 },
];
const BLOCKS = 2;
export const REQUESTS = 10;

export function samplePlan(): Plan {
  return {
    schema: SCHEMA_VERSION,
    scenario: "echo",
    mode: "quick",
    settings: {
      runs: BLOCKS,
      warmUpMs: 100,
      measureMs: 1_000,
      requests: REQUESTS,
      seed: 7,
      agents: 1,
      payloadBytes: 64,
      model: "null",
      connectTimeoutMs: 10_000,
      messageTimeoutMs: 30_000,
      retries: 0,
      backoffMs: 100,
      freeze: [],
    },
    arms: [...ARMS],
    conditions: [{ id: "closed-1", load: { loop: "closed", clients: 1 }, faults: [] }],
    runs: Array.from({ length: BLOCKS }, (_, block) =>
      ARMS.map(({ id }, position) => ({
        run: `b${block}-${position}`,
        block,
        position,
        arm: id,
        condition: "closed-1",
        seed: 7 + block,
      })),
    ).flat(),
    primary: "overheadP50Us",
    marginUs: 2_500,
    sharedProcesses: false,
  };
}

/** Request `seq` of a run: 1,000 µs and `seq` µs more, 100 of them in the handler, and what the arm adds on its way there. */
export function sampleRequest(run: string, seq: number, addedUs = 0): readonly [RequestEvent, ServiceEvent] {
  const start = seq * 10_000 * US;
  const at = (us: number): number => start + us * US;
  const arrived = 300 + addedUs;
  return [
    {
      type: "request",
      run,
      seq,
      phase: "measure",
      to: "agent-1",
      outcome: "answered",
      attempts: 1,
      stamps: {
        intended: at(0),
        send: at(10),
        encodeStart: at(20),
        write: at(110),
        replyEnd: at(arrived + 600),
        done: at(arrived + 700 + seq),
      },
      payloadBytes: 64,
      answerBytes: 64,
      bodyBytes: { sent: 200, received: 220 },
      streamEvents: 0,
      payloadHash: `p${seq}`,
      answerHash: `a${seq}`,
    },
    {
      type: "service",
      run,
      seq,
      agent: "agent-1",
      stamps: {
        received: at(arrived),
        queueStart: at(arrived + 50),
        serviceStart: at(arrived + 70),
        serviceEnd: at(arrived + 170),
        replyStart: at(arrived + 200),
      },
      payloadHash: `p${seq}`,
      answerHash: `a${seq}`,
    },
  ];
}

export function sampleEvents(): BenchEvent[] {
  const plan = samplePlan();
  return [{ type: "plan", plan }, ...plan.runs.flatMap(({ run, arm }) => sampleRun(run, arm.endsWith("ms") ? 5_000 : 0))];
}

function sampleRun(run: string, addedUs: number): readonly BenchEvent[] {
  const wire = { type: "wire", run, edge: "caller>agent-1", connections: 1 } as const;
  const usage = { type: "usage", run, process: "agent-1", rssBytes: 50_000_000 } as const;
  return [
    { type: "run-started", run, attempt: 1, at: "2026-01-01T00:00:00.000Z" },
    { type: "process-started", run, process: "agent-1", agents: ["agent-1"], pid: 4711, ns: 0, restart: 0 },
    { type: "configuration", run, process: "caller", values: { messageTimeoutMs: 30_000, "plug-in.protocol": run } },
    { type: "phase", run, phase: "measure", ns: 0 },
    { ...wire, phase: "measure", sent: 1_000, received: 2_000 },
    { ...usage, phase: "measure", cpuUs: 1_000 },
    ...Array.from({ length: REQUESTS }, (_, seq) => sampleRequest(run, seq, addedUs)).flat(),
    { type: "phase", run, phase: "end", ns: 2_000_000_000 },
    { ...wire, phase: "end", sent: 6_000, received: 7_000 },
    { ...usage, phase: "end", cpuUs: 2_000 },
    { type: "run-ended", run, attempt: 1, status: "complete", seconds: 3 },
  ];
}
