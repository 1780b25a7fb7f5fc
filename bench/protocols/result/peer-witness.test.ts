import { expect, it } from "vitest";
import { peerProblems } from "./peer-witness.js";
import type { Condition } from "./plan.js";
import type { RunEvents } from "./run-events.js";

const QUIET: Condition = { id: "closed-1", load: { loop: "closed", clients: 1 }, faults: [] };
const STORM: Condition = { ...QUIET, faults: [{ kind: "kill", target: "agent-2", atMs: 0, forMs: 1 }] };
type PeerRequest = RunEvents["peerRequests"][number];

function request(number: number, more: Partial<PeerRequest> = {}): PeerRequest {
  const stamps = { send: number * 10, done: number * 10 + 5 };
  const sizes = { payloadBytes: 40, answerBytes: 60, payloadHash: "p", answerHash: "a" };
  const ends = { from: "agent-1", to: "agent-2", outcome: "answered", attempts: 1 } as const;
  return { type: "peer-request", run: "r", id: `agent-1/0/${number}`, stamps, ...sizes, ...ends, ...more };
}

function events(requests: readonly PeerRequest[], more: Partial<RunEvents> = {}): RunEvents {
  return {
    planned: { run: "r", block: 0, position: 0, arm: "a", condition: "closed-1", seed: 1 },
    attempt: 1,
    ended: undefined,
    processes: [],
    configurations: [],
    phases: [{ type: "phase", run: "r", phase: "end", ns: 1_000 }],
    requests: [],
    services: [],
    peerRequests: requests,
    peerServices: requests.map(({ id, to }) => ({
      type: "peer-service",
      run: "r",
      id,
      agent: to,
      stamps: { serviceStart: 1 },
      payloadHash: "p",
    })),
    notes: [],
    wires: [{ type: "wire", run: "r", edge: "agent-1>agent-2", phase: "end", connections: 1, sent: 500, received: 500 }],
    usages: [],
    faults: [],
    ...more,
  };
}

it("accepts messages that both sides saw, on an edge with their bytes", () => {
  expect(peerProblems(events([request(0), request(1)]), QUIET)).toEqual([]);
  expect(peerProblems(events([]), QUIET)).toEqual([]);
});

it("rejects an edge without the bytes of its messages", () => {
  const many = Array.from({ length: 50 }, (_, number) => request(number));
  expect(peerProblems(events(many), QUIET)).toEqual([
    "fewer bytes on the edge agent-1>agent-2 than its messages and answers have",
  ]);
  expect(peerProblems(events([request(0)], { wires: [] }), QUIET)).toEqual(["nothing was counted on the edge agent-1>agent-2"]);
});

it("does not count messages after the window, whose bytes nobody counted", () => {
  const late = { stamps: { send: 2_000, done: 2_005 }, payloadBytes: 100_000 };
  expect(peerProblems(events([request(0), request(1, late)]), QUIET)).toEqual([]);
});

it("rejects an answer that no agent gave, unless its process was killed at that moment", () => {
  const unseen = events([request(0)], { peerServices: [] });
  expect(peerProblems(unseen, STORM)).toEqual(["1 answers between agents did not come from an agent"]);
  const kill = { type: "fault", run: "r", kind: "kill", step: "begin", target: "agent-2", ns: 20 } as const;
  expect(peerProblems({ ...unseen, faults: [kill] }, STORM)).toEqual([]);
  expect(peerProblems({ ...unseen, faults: [{ ...kill, target: "agent-1" }] }, STORM)).toHaveLength(1);
  expect(peerProblems({ ...unseen, faults: [{ ...kill, ns: 60_000_000_000 }] }, STORM)).toHaveLength(1);
});

it("rejects failed messages without a fault, and accepts them with one", () => {
  const failed = events([request(0), request(1, { outcome: "failed" })]);
  const text = "between agents: sent 2, received 2, answered 1: they must be equal without faults";
  expect(peerProblems(failed, QUIET)).toEqual([text]);
  expect(peerProblems(failed, STORM)).toEqual([]);
});
