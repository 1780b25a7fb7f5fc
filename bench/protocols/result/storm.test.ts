import { expect, it } from "vitest";
import type { BenchEventOf, RequestEvent } from "./event.js";
import type { Condition } from "./plan.js";
import type { RunEvents } from "./run-events.js";
import { stormOf } from "./storm.js";

const MS = 1_000_000;
const CONDITION: Condition = {
  id: "storm",
  load: { loop: "closed", clients: 1 },
  faults: [{ kind: "kill", target: "agent-2", atMs: 1_000, forMs: 2_000 }],
  recovery: "journal",
};
const PLAN = { settings: { messageTimeoutMs: 30_000 } };

/** A question every 100 ms, answered after 10 ms by this agent. */
function question(seq: number, to: string, outcome: RequestEvent["outcome"] = "answered"): RequestEvent {
  const at = seq * 100 * MS;
  const stamps = { intended: at, send: at, done: at + 10 * MS };
  const sizes = { attempts: 1, payloadBytes: 1, answerBytes: 1, streamEvents: 0, payloadHash: "p" };
  return { type: "request", run: "r", seq, phase: "measure", to, outcome, stamps, ...sizes };
}

function note(kind: string, agent: string, ms: number, more: object = {}): BenchEventOf<"note"> {
  return { type: "note", run: "r", agent, kind, ns: ms * MS, values: {}, ...more };
}

/** Six seconds: agent-2 is killed at 1 s, started at 3 s, listens at 3.5 s, is accepted at 3.6 s, and takes part again from 3.75 s. */
function run(more: Partial<RunEvents> = {}): RunEvents {
  const requests = Array.from({ length: 60 }, (_, seq) => question(seq, "agent-1"));
  const through = requests.filter(({ seq }) => seq < 10 || seq >= 38);
  return {
    planned: { run: "r", block: 0, position: 0, arm: "a", condition: "storm", seed: 1 },
    attempt: 1,
    ended: undefined,
    processes: [],
    configurations: [],
    phases: [
      { type: "phase", run: "r", phase: "measure", ns: 0 },
      { type: "phase", run: "r", phase: "end", ns: 6_000 * MS },
    ],
    requests,
    services: requests.map(({ seq, stamps }) => ({
      type: "service",
      run: "r",
      seq,
      agent: "agent-1",
      stamps: { serviceStart: stamps.send + 1 },
      payloadHash: "p",
    })),
    peerRequests: through.map(({ seq, stamps }) => ({
      type: "peer-request",
      run: "r",
      id: `agent-1/0/${seq}`,
      seq,
      from: "agent-1",
      to: "agent-2",
      outcome: "answered",
      attempts: 1,
      stamps: { send: stamps.send + 2, done: stamps.send + 5 },
      payloadBytes: 1,
      answerBytes: 1,
      payloadHash: "p",
    })),
    peerServices: through.map(({ seq, stamps }) => ({
      type: "peer-service",
      run: "r",
      id: `agent-1/0/${seq}`,
      agent: "agent-2",
      stamps: { serviceStart: stamps.send + 3 },
      payloadHash: "p",
    })),
    // Between the fault and the recovery every second question finds nothing.
    notes: [
      ...requests.map(({ seq }) =>
        note("judged", "caller", seq * 100 + 10, {
          seq,
          values: { found: true, right: seq < 10 || seq >= 38 || seq % 2 === 0, local: seq % 8 === 0 },
        }),
      ),
      note("dead", "agent-1", 1_040, { about: "agent-2", values: { seenBy: "connection" } }),
      note("dead", "agent-3", 1_250, { about: "agent-2", values: { seenBy: "heartbeat" } }),
      note("dead", "agent-1", 2_000, { about: "agent-2", values: { seenBy: "connection" } }),
      note("listening", "agent-2", 3_500),
      note("restored", "agent-2", 3_400, { values: { source: "journal", fragments: 7, bytes: 900, us: 1_500 } }),
      note("rejoined", "agent-2", 3_600, { about: "agent-1" }),
      note("reconnect", "agent-2", 3_600, { values: { connections: 2, sent: 400, received: 800 } }),
    ],
    wires: [],
    usages: [],
    faults: [
      { type: "fault", run: "r", kind: "kill", step: "begin", target: "agent-2", ns: 1_000 * MS, verifiedNs: 1_010 * MS },
      { type: "fault", run: "r", kind: "kill", step: "end", target: "agent-2", ns: 3_000 * MS, verifiedNs: 3_600 * MS },
    ],
    ...more,
  };
}

it("splits a recovery into its parts, which follow each other", () => {
  const [cycle] = stormOf(run(), CONDITION, PLAN)?.cycles ?? [];
  expect(cycle).toMatchObject({ atS: 1, kind: "kill", detectUs: 40_000 });
  // The first right answer through it afterwards: question 38, sent at 3.8 s, answered 10 ms later.
  expect(cycle?.victims).toEqual([
    {
      victim: "agent-2",
      recoveryUs: 2_810_000,
      downUs: 2_000_000,
      startUs: 500_000,
      rejoinUs: 100_000,
      workUs: 210_000,
      usefulUs: 310_000,
      detections: [
        { by: "agent-1", us: 40_000, seenBy: "connection" },
        { by: "agent-3", us: 250_000, seenBy: "heartbeat" },
      ],
      restored: { source: "journal", fragments: 7, bytes: 900, us: 1_500 },
      reconnect: { connections: 2, sent: 400, received: 800 },
    },
  ]);
  expect(cycle?.recoveryUs).toBe(2_810_000);
});

it("counts right answers before, during and after, and what the time between cost", () => {
  const [cycle] = stormOf(run(), CONDITION, PLAN)?.cycles ?? [];
  expect(cycle?.paper.pre).toMatchObject({ seconds: 1, truncated: true, ended: 10, right: 10 });
  expect(cycle?.during).toMatchObject({ ended: 29, right: 15 });
  expect(cycle?.paper.post).toMatchObject({ ended: 21, right: 21, truncated: true });
  expect(cycle?.retention).toBe(1);
  expect(cycle?.countRetention).toBe(2.1);
  // Ten per second for 2.81 s were to be expected.
  expect(cycle?.missed).toBeCloseTo(28.1 - 15, 6);
  // With the one that it recovered by, 22 right answers went through the victim in 2.19 s.
  expect(cycle?.resolutionUs).toBeCloseTo(2_190_000 / 22, 0);
});

it("counts lost, doubled and repeated questions by their key", () => {
  const { requests, services } = run();
  const first = services[0] ?? expect.fail("there is a service");
  const lost = [...requests.slice(0, 59), question(59, "agent-1", "failed")];
  const arrived = [...services, { ...first, agent: "agent-3" }];
  const again = { seq: 3, values: { found: true, right: true, local: false } };
  const notes = [
    ...run().notes,
    note("judged", "caller", 400, again),
    note("discarded", "caller", 500, { seq: 4, about: "agent-3" }),
    // Of a question that was not measured.
    note("discarded", "caller", 500, { seq: 4_000, about: "agent-3" }),
  ];
  const storm = stormOf(run({ requests: lost, services: arrived, notes }), CONDITION, PLAN);
  expect(storm).toMatchObject({ lost: 1, doubled: 1, discarded: 1, repeated: 1 });
  expect(storm?.localShare).toBeCloseTo(8 / 60, 6);
  expect(stormOf(run(), CONDITION, PLAN)).toMatchObject({ lost: 0, doubled: 0, discarded: 0, repeated: 0 });
});

it("counts how often agents worked through a question again: not what the journal or the work under way answered, and not what did not end", () => {
  const { services, notes } = run();
  const ended = services.map((each) => ({ ...each, stamps: { ...each.stamps, serviceEnd: each.stamps.serviceStart + 1 } }));
  const at = (seq: number) => ended[seq] ?? expect.fail("there is a service");
  const arrived = [
    ...ended,
    // Worked through by two more agents.
    { ...at(0), agent: "agent-3" },
    { ...at(0), agent: "agent-4" },
    // Answered from the journal.
    { ...at(1), agent: "agent-3" },
    // Died with its agent.
    { ...at(2), agent: "agent-3", stamps: { serviceStart: at(2).stamps.serviceStart } },
  ];
  const known = note("repeated", "agent-3", 300, { seq: 1, values: { key: "q-1" } });
  // Of a question of the warm-up.
  const other = note("repeated", "agent-3", 300, { seq: 4_000, values: { key: "q-4000" } });
  const storm = stormOf(run({ services: arrived, notes: [...notes, known, other] }), CONDITION, PLAN);
  expect(storm).toMatchObject({ repeated: 4, executedAgain: 2, doubled: 0 });
  expect(stormOf(run({ services: ended }), CONDITION, PLAN)?.executedAgain).toBe(0);
});

it("is resolved by the probes of a victim, whose first right answer is its first useful work", () => {
  const probe = (sentMs: number, ms: number, right: boolean) =>
    note("probe", "caller", ms, { about: "agent-2", values: { sent: sentMs * MS, answered: right, right } });
  const probes = [probe(3_480, 3_482, false), probe(3_492, 3_494, false), probe(3_504, 3_540, true)];
  const other = note("probe", "caller", 3_510, { about: "agent-4", values: { sent: 0, answered: true, right: true } });
  const [cycle] = stormOf(run({ notes: [...run().notes, ...probes, other] }), CONDITION, PLAN)?.cycles ?? [];
  expect(cycle?.victims[0]).toMatchObject({ usefulUs: 40_000, rejoinUs: 40_000, workUs: 0, recoveryUs: 2_540_000 });
  expect(cycle?.resolutionUs).toBe(12_000);
});

it("has no recovery for a victim that nothing right went through again", () => {
  const { peerServices } = run();
  const storm = stormOf(run({ peerServices: peerServices.slice(0, 10) }), CONDITION, PLAN);
  expect(storm?.cycles[0]).toMatchObject({ recoveryUs: null, retention: null, paper: { post: { ended: 0 } } });
});

it("is nothing for a run without faults, whose answers nobody judged, or that did not end", () => {
  expect(stormOf(run(), { ...CONDITION, faults: [] }, PLAN)).toBeUndefined();
  expect(stormOf(run({ notes: [] }), CONDITION, PLAN)).toBeUndefined();
  expect(stormOf(run({ phases: run().phases.slice(0, 1) }), CONDITION, PLAN)).toBeUndefined();
});
