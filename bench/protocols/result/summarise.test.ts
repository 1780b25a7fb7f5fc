import { describe, expect, it } from "vitest";
import { REQUESTS, sampleEvents, sampleRequest } from "../../../test/helpers/bench-events.js";
import { BENCH_EVENT, type BenchEvent } from "./event.js";
import { RESULT } from "./result.js";
import { summarise } from "./summarise.js";

/** The events with those that match changed. */
function changed<T extends BenchEvent["type"]>(
  type: T,
  change: (event: Extract<BenchEvent, { type: T }>) => BenchEvent | undefined,
): BenchEvent[] {
  return sampleEvents().flatMap((event) =>
    event.type === type ? (change(event as Extract<BenchEvent, { type: T }>) ?? []) : [event],
  );
}

function runOf(events: readonly BenchEvent[], run = "b0-0") {
  const found = summarise(events).runs.find((each) => each.run === run);
  if (found === undefined) throw new Error(`no run ${run}`);
  return found;
}

describe("summarise", () => {
  it("reads its own events and writes a result of its own schema", () => {
    const events = sampleEvents().map((event) => BENCH_EVENT.parse(JSON.parse(JSON.stringify(event))));
    const result = summarise(events);
    expect(RESULT.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
    expect(result.status).toBe("complete");
    expect(result.marks).toEqual(["Quick run: few and short runs. The numbers show that it works, not how fast it is."]);
  });

  it("computes latencies, overhead, rates and bytes of a run", () => {
    const { metrics, requests, bytes } = runOf(sampleEvents());
    // 1,000 to 1,009 µs; nearest rank.
    expect(metrics).toMatchObject({ meanUs: 1004.5, minUs: 1000, p50Us: 1004, p95Us: 1009, maxUs: 1009 });
    // Without 10 µs in the caller's queue, 20 in the agent's and 100 in the handler.
    expect(metrics.overheadMeanUs).toBeCloseTo(874.5, 9);
    expect(metrics).toMatchObject({ throughputPerS: 5, offeredPerS: 5, successRate: 1 });
    expect(metrics).toMatchObject({ wireBytesPerRequest: 1000, cpuUsPerRequest: 100, rssBytes: 50_000_000 });
    expect(bytes).toEqual({ payload: 128, envelope: 292, transport: 580 });
    expect(requests).toEqual({
      sent: 10,
      answered: 10,
      failed: 0,
      timeout: 0,
      dropped: 0,
      retries: 0,
      networkErrors: 0,
      received: 10,
      duplicates: 0,
    });
  });

  it("splits the latency into parts that add up to it", () => {
    const { segmentsUs, metrics } = runOf(sampleEvents());
    expect(segmentsUs).toMatchObject({ clientQueue: 10, encode: 100, requestNetwork: 190, requestDecode: 50, serverQueue: 20 });
    expect(segmentsUs).toMatchObject({ service: 100, replyEncode: 30, replyNetwork: 400 });
    expect(Object.values(segmentsUs).reduce<number>((sum, part) => sum + (part ?? 0), 0)).toBeCloseTo(metrics.meanUs ?? 0, 9);
  });

  it("adds a part that an implementation does not show to the next one", () => {
    const events = changed("service", ({ stamps: { received: _received, queueStart: _start, ...stamps }, ...event }) => ({
      ...event,
      stamps,
    }));
    const { segmentsUs } = runOf(events);
    expect(segmentsUs).toMatchObject({ requestNetwork: null, requestDecode: null, serverQueue: 260 });
  });

  it("counts a timeout as at least its limit, and an error as a failure without a latency", () => {
    const events = changed("request", (event) => {
      if (event.run !== "b0-0" || event.seq > 1) return event;
      return event.seq === 0 ? { ...event, outcome: "timeout" } : { ...event, outcome: "failed", error: "refused" };
    });
    const { metrics, requests, errors, invalid } = runOf(events);
    expect(metrics.maxUs).toBe(30_000_000);
    expect(metrics.successRate).toBe(0.8);
    expect(requests).toMatchObject({ answered: 8, failed: 1, timeout: 1 });
    expect(errors).toEqual({ refused: 1 });
    expect(invalid).toEqual(["sent 10, received 10, answered 8: they must be equal without faults"]);
  });

  it("does not take a late answer of the warm-up for one that was not sent", () => {
    const late = (phase: "warm-up" | "measure") =>
      runOf(changed("request", (event) => (event.seq === 9 ? { ...event, phase, outcome: "timeout" } : event))).invalid;
    expect(late("warm-up")).toEqual([]);
    expect(late("measure")).toEqual(["sent 10, received 10, answered 9: they must be equal without faults"]);
  });

  it("has no numbers of the warm-up", () => {
    const events = changed("request", (event) => (event.seq === 9 ? { ...event, phase: "warm-up" } : event));
    expect(runOf(events).metrics).toMatchObject({ maxUs: 1008, offeredPerS: 4.5 });
  });

  it("takes the last attempt of a run that was begun again", () => {
    const [plan, ...rest] = sampleEvents();
    const [first = plan] = rest;
    if (plan === undefined || first === undefined) throw new Error("no events");
    const [request] = sampleRequest("b0-0", 5);
    const result = summarise([plan, first, request, plan, ...rest]);
    expect(result.runs[0]?.requests.sent).toBe(REQUESTS);
    expect(result.marks).toContain("Resumed 1 times: the runs were not measured in one go.");
  });

  it("calls a result partial that lacks the end of a run", () => {
    const events = sampleEvents().slice(0, -1);
    const result = summarise(events);
    expect(result.status).toBe("partial");
    expect(result.marks).toContain("Partial: 5 of 6 runs are complete and valid.");
    expect(result.runs.at(-1)).toMatchObject({ status: "interrupted", reason: "the benchmark ended before the run did" });
  });
});

describe("the wire witness", () => {
  it.each([
    ["an edge without bytes", changed("wire", (wire) => ({ ...wire, received: 0 })), "no bytes on the edge caller>agent-1"],
    [
      "an edge that carried less than the payloads",
      changed("wire", (wire) => ({ ...wire, sent: 300 })),
      "fewer bytes on the edge caller>agent-1 than its requests and answers have",
    ],
    ["an edge that was not counted", changed("wire", () => undefined), "nothing was counted on the edge caller>agent-1"],
    [
      "an answer that came from no agent",
      changed("service", (event) => (event.seq === 3 ? undefined : event)),
      "1 answers did not come from an agent",
    ],
  ])("refuses %s", (_what, events, problem) => {
    const result = summarise(events);
    expect(result.runs[0]?.invalid).toContain(problem);
    expect(result.checks.witness.passed).toBe(false);
    expect(result.status).toBe("invalid");
  });
});

describe("fairness", () => {
  it("fails if one timeout of one arm differs", () => {
    const events = changed("configuration", (event) =>
      event.run === "b1-1" ? { ...event, values: { ...event.values, messageTimeoutMs: 10_000 } } : event,
    );
    const { checks, status } = summarise(events);
    expect(checks.fairness).toEqual({
      passed: false,
      statement: "The arms were not configured alike: caller messageTimeoutMs is 10000 for one again, and 30000 for one.",
    });
    expect(status).toBe("invalid");
  });

  it("lets the protocol's own settings differ, and nothing be left out", () => {
    expect(summarise(sampleEvents()).checks.fairness).toEqual({ passed: true, statement: "All arms agree in 1 settings." });
    const events = changed("configuration", (event) => (event.run === "b0-1" ? { ...event, values: {} } : event));
    expect(summarise(events).checks.fairness.passed).toBe(false);
  });
});

describe("replay equality", () => {
  it.each([
    [
      "payload",
      changed("request", (event) => (event.run === "b0-2" && event.seq === 4 ? { ...event, payloadHash: "x" } : event)),
    ],
    ["answer", changed("request", (event) => (event.run === "b0-2" && event.seq === 4 ? { ...event, answerHash: "x" } : event))],
    ["arrived payload", changed("service", (event) => (event.seq === 4 ? { ...event, payloadHash: "x" } : event))],
  ])("fails for another %s", (_what, events) => {
    const { replay } = summarise(events).checks;
    expect(replay.passed).toBe(false);
    expect(replay.statement).toContain("request 4 of");
  });
});

describe("controls", () => {
  it("finds a second copy equal and the dose", () => {
    const [same, dose] = summarise(sampleEvents()).controls;
    expect(same).toMatchObject({ kind: "same", passed: true, pairs: 20, medianUs: 0, lowUs: 0, highUs: 0 });
    expect(dose).toMatchObject({ kind: "dose", passed: true, pairs: 20, medianUs: 5_000, lowUs: 5_000 });
    expect(dose?.statement).toBe(
      "one with 5 ms added must come out slower (margin 2.500 ms): yes, median difference 5.000 ms, 95 % interval 5.000 ms to 5.000 ms, 20 pairs.",
    );
  });

  it("fails for a copy that differs, and for a dose that is not seen", () => {
    const swapped = changed("plan", ({ type, plan }) => ({
      type,
      plan: {
        ...plan,
        runs: plan.runs.map((run) => ({
          ...run,
          arm: run.arm === "one" ? "one +5 ms" : run.arm === "one +5 ms" ? "one" : run.arm,
        })),
      },
    }));
    const result = summarise(swapped);
    expect(result.controls.map(({ passed }) => passed)).toEqual([false, false]);
    expect(result.status).toBe("invalid");
  });

  it("decides nothing with too few pairs", () => {
    const [same] = summarise(changed("request", (event) => (event.seq > 1 ? undefined : event))).controls;
    expect(same).toMatchObject({ passed: false, pairs: 4, lowUs: null });
  });
});
