import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMetrics } from "../../src/telemetry/metrics.js";
import { openMetricsText, wantsOpenMetrics } from "../../src/telemetry/open-metrics.js";
import { prometheusText } from "../../src/telemetry/prometheus.js";
import { readOpenMetrics } from "./open-metrics-grammar.js";

const EDGE = { srcAgent: "planner", dstId: "translator", protocol: "p" };
const LABELS = 'src_agent="planner",dst_id="translator",protocol="p"';
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

/** The examples of the specification, and what it forbids. */
const EOF = "# EOF\n";
describe("the grammar of the tests", () => {
  test.each([
    ["a counter", `# TYPE foo counter\nfoo_total 17.0 1520879607.789\nfoo_created 1520430000.123 1520879607.789\n${EOF}`],
    [
      "exemplars of several forms",
      `# TYPE foo histogram\nfoo_bucket{le="0.01"} 0\nfoo_bucket{le="0.1"} 8 # {} 0.054\nfoo_bucket{le="1.0"} 11 # {trace_id="KOO5S4vxi0o"} 0.67\nfoo_bucket{le="10.0"} 17 # {trace_id="oHg5SJYRHA0"} 9.8 1520879607.789\nfoo_bucket{le="+Inf"} 17\nfoo_count 17\nfoo_sum 324789.3\n${EOF}`,
    ],
    [
      "escapes",
      `# TYPE foo gauge\n# HELP foo Some text and \\n some \\" escaping\nfoo{a="x",b="escaping\\" example \\n "} 0\n${EOF}`,
    ],
  ])("accepts %s", (_what, text) => {
    expect(readOpenMetrics(text)).toHaveLength(1);
  });

  test.each([
    ["no end", "# TYPE foo gauge\nfoo 1\n"],
    ["a counter without its suffix", `# TYPE foo counter\nfoo 1\n${EOF}`],
    ["an exemplar on a gauge", `# TYPE foo gauge\nfoo 1 # {} 1\n${EOF}`],
    [
      "an exemplar above its bound",
      `# TYPE f histogram\nf_bucket{le="1.0"} 1 # {} 2\nf_bucket{le="+Inf"} 1\nf_count 1\nf_sum 2\n${EOF}`,
    ],
    ["buckets that fall", `# TYPE f histogram\nf_bucket{le="1.0"} 2\nf_bucket{le="+Inf"} 1\nf_count 1\nf_sum 2\n${EOF}`],
    ["a histogram without infinity", `# TYPE f histogram\nf_bucket{le="1.0"} 2\nf_count 2\nf_sum 2\n${EOF}`],
    ["metadata after samples", `# TYPE foo gauge\nfoo 1\n# HELP foo late\n${EOF}`],
    ["interleaved families", `# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# HELP a again\n${EOF}`],
    ["a comment", `# just a word\n${EOF}`],
    ["an exemplar whose labels are too long", `# TYPE f counter\nf_total 1 # {trace_id="${"x".repeat(121)}"} 1\n${EOF}`],
  ])("refuses %s", (_what, text) => {
    expect(() => readOpenMetrics(text)).toThrow();
  });
});

describe("openMetricsText", () => {
  test("the whole text of one edge; exemplars are in the bucket of their call, the last one wins", () => {
    let nowMs = 1_767_323_045_678;
    const metrics = createMetrics({ latencyBounds: [0.00005, 0.005, 1, 2_500_000], now: () => nowMs });
    const meter = metrics.edge(EDGE);
    meter.observe(0.004, "4bf92f35-77b3-4da6-a3ce-929d0e0e4737");
    meter.observe(0.005, TRACE);
    nowMs += 1_000;
    meter.observe(0.25);
    meter.observe(3e6, TRACE.toUpperCase());
    meter.fail();
    metrics.counter("JOBS_total", 'say "hi"\n').edge(EDGE).add(2);
    metrics.gauge("QUEUE_DEPTH", "Calls that wait").edge(EDGE).set(Number.NaN);
    const text = openMetricsText(metrics.families());
    expect(text).toBe(`\
# TYPE REQUEST_LATENCY histogram
# HELP REQUEST_LATENCY Seconds from the beginning of a call to the end of its answer
REQUEST_LATENCY_bucket{${LABELS},le="5e-05"} 0
REQUEST_LATENCY_bucket{${LABELS},le="0.005"} 2 # {trace_id="${TRACE}"} 0.005 1767323045.678
REQUEST_LATENCY_bucket{${LABELS},le="1.0"} 3
REQUEST_LATENCY_bucket{${LABELS},le="2.5e+06"} 3
REQUEST_LATENCY_bucket{${LABELS},le="+Inf"} 4 # {trace_id="${TRACE}"} 3000000 1767323046.678
REQUEST_LATENCY_count{${LABELS}} 4
REQUEST_LATENCY_sum{${LABELS}} 3000000.259
# TYPE REQUEST_FAILURES counter
# HELP REQUEST_FAILURES Calls that failed; a task that ends as failed is an answer
REQUEST_FAILURES_total{${LABELS}} 1
# TYPE MSG_BYTES counter
# HELP MSG_BYTES Bytes of serialised protocol payload, requests and responses
MSG_BYTES_total{${LABELS}} 0
# TYPE MSG_BYTES_PAYLOAD counter
# HELP MSG_BYTES_PAYLOAD Bytes of message content, requests and responses
MSG_BYTES_PAYLOAD_total{${LABELS}} 0
# TYPE MSG_BYTES_RETRY_OVERHEAD counter
# HELP MSG_BYTES_RETRY_OVERHEAD Bytes of serialised payload around the content, and of what was sent again
MSG_BYTES_RETRY_OVERHEAD_total{${LABELS}} 0
# TYPE JOBS counter
# HELP JOBS say \\"hi\\"\\n
JOBS_total{${LABELS}} 2
# TYPE QUEUE_DEPTH gauge
# HELP QUEUE_DEPTH Calls that wait
QUEUE_DEPTH{${LABELS}} NaN
# EOF
`);
    expect(readOpenMetrics(text)).toHaveLength(7);
    expect(prometheusText(metrics.families())).not.toContain("trace_id");
  });

  test("for any measurements and agent names, the text matches the grammar and preserves the values", () => {
    const name = fc.string({ unit: "grapheme", maxLength: 20 }).filter((text) => !text.includes("\r") && !text.includes("://"));
    const call = fc.record({
      srcAgent: name,
      seconds: fc.double({ min: 0, max: 1e9, noNaN: true }),
      traceId: fc.oneof(fc.uuid(), name, fc.constant(undefined)),
    });
    fc.assert(
      fc.property(fc.array(call, { maxLength: 20 }), (calls) => {
        const metrics = createMetrics({ now: () => 1_767_323_045_001 });
        for (const { srcAgent, seconds, traceId } of calls) metrics.meter(srcAgent, "b", "p").observe(seconds, traceId);
        const [latency] = readOpenMetrics(openMetricsText(metrics.families()));
        const counts = latency?.samples.filter(({ name: sample }) => sample.endsWith("_count")) ?? [];
        const expected = new Map<string, number>();
        for (const { srcAgent } of calls) expected.set(srcAgent, (expected.get(srcAgent) ?? 0) + 1);
        expect(new Map(counts.map(({ labels, value }) => [labels.get("src_agent"), value]))).toEqual(expected);
        const traces = new Set(calls.map(({ traceId }) => traceId?.replaceAll("-", "")));
        for (const { exemplar } of latency?.samples ?? [])
          if (exemplar !== undefined)
            expect([exemplar.timestamp, traces.has(exemplar.labels.get("trace_id"))]).toEqual([1_767_323_045.001, true]);
      }),
      { numRuns: 100 },
    );
  });

  test("nothing measured is an empty set", () => {
    expect(readOpenMetrics(openMetricsText(createMetrics().families()))).toEqual([]);
  });
});

test.each([
  [
    "what Prometheus 3 sends",
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
    true,
  ],
  ["only that", "Application/OpenMetrics-Text", true],
  ["nothing", undefined, false],
  ["anything, as curl says", "*/*", false],
  ["plain text rather", "text/plain, application/openmetrics-text; q=0.5", false],
  ["not that", "application/openmetrics-text;q=0, text/plain;q=0", false],
  ["a version that we do not write", "application/openmetrics-text; version=2.0.0", false],
  ["a quality that is none", "application/openmetrics-text;q=high", false],
])("a scraper asks for %s", (_what, accept, wants) => {
  expect(wantsOpenMetrics(accept)).toBe(wants);
});
