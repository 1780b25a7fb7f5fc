import { describe, expect, test } from "vitest";
import { createMetrics } from "./metrics.js";
import { PROMETHEUS_CONTENT_TYPE, prometheusText } from "./prometheus.js";

describe("prometheusText", () => {
  test("the whole text of one edge", () => {
    const metrics = createMetrics({ latencyBounds: [0.005, 1] });
    const meter = metrics.edge({ srcAgent: "planner", dstId: "translator", protocol: "p" });
    meter.observe(0.004);
    meter.observe(0.25);
    meter.observe(30);
    meter.fail();
    meter.bytes(1234);
    meter.payload(17);
    metrics.gauge("QUEUE_DEPTH", "Calls that wait").edge({ srcAgent: "planner", dstId: "translator", protocol: "p" }).set(2);
    expect(prometheusText(metrics.families())).toBe(`\
# HELP REQUEST_LATENCY Seconds from the beginning of a call to the end of its answer
# TYPE REQUEST_LATENCY histogram
REQUEST_LATENCY_bucket{src_agent="planner",dst_id="translator",protocol="p",le="0.005"} 1
REQUEST_LATENCY_bucket{src_agent="planner",dst_id="translator",protocol="p",le="1"} 2
REQUEST_LATENCY_bucket{src_agent="planner",dst_id="translator",protocol="p",le="+Inf"} 3
REQUEST_LATENCY_sum{src_agent="planner",dst_id="translator",protocol="p"} 30.254
REQUEST_LATENCY_count{src_agent="planner",dst_id="translator",protocol="p"} 3
# HELP REQUEST_FAILURES Calls that failed; a task that ends as failed is an answer
# TYPE REQUEST_FAILURES counter
REQUEST_FAILURES{src_agent="planner",dst_id="translator",protocol="p"} 1
# HELP MSG_BYTES Bytes of serialised protocol payload, requests and responses
# TYPE MSG_BYTES counter
MSG_BYTES{src_agent="planner",dst_id="translator",protocol="p"} 1234
# HELP MSG_BYTES_PAYLOAD Bytes of message content, requests and responses
# TYPE MSG_BYTES_PAYLOAD counter
MSG_BYTES_PAYLOAD{src_agent="planner",dst_id="translator",protocol="p"} 17
# HELP MSG_BYTES_RETRY_OVERHEAD Bytes of serialised payload around the content, and of what was sent again
# TYPE MSG_BYTES_RETRY_OVERHEAD counter
MSG_BYTES_RETRY_OVERHEAD{src_agent="planner",dst_id="translator",protocol="p"} 0
# HELP QUEUE_DEPTH Calls that wait
# TYPE QUEUE_DEPTH gauge
QUEUE_DEPTH{src_agent="planner",dst_id="translator",protocol="p"} 2
`);
  });

  test("label values and help are escaped as the format requires", () => {
    const metrics = createMetrics();
    metrics.counter("X", "a\\b\nc").edge({ srcAgent: 'quo"te', dstId: "back\\slash", protocol: "new\nline" }).add(1);
    expect(prometheusText(metrics.families())).toBe(
      '# HELP X a\\\\b\\nc\n# TYPE X counter\nX{src_agent="quo\\"te",dst_id="back\\\\slash",protocol="new\\nline"} 1\n',
    );
  });

  test("infinity has its own spelling, and unused metrics are omitted", () => {
    const metrics = createMetrics();
    expect(prometheusText(metrics.families())).toBe("");
    metrics.gauge("CIRCUIT_STATE", "state").edge({ srcAgent: "a", dstId: "b", protocol: "p" }).set(Number.POSITIVE_INFINITY);
    expect(prometheusText(metrics.families())).toContain('CIRCUIT_STATE{src_agent="a",dst_id="b",protocol="p"} +Inf\n');
  });

  test("its content type names the version of the format", () => {
    expect(PROMETHEUS_CONTENT_TYPE).toBe("text/plain; version=0.0.4; charset=utf-8");
  });
});
