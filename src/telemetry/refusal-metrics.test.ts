import { expect, test } from "vitest";
import { AgentError } from "../envelope/index.js";
import { makeRequest } from "../transport/request.js";
import { createMetrics } from "./metrics.js";
import { prometheusText } from "./prometheus.js";
import { refusalMetrics } from "./refusal-metrics.js";

const head = () => makeRequest({ method: "GET", url: "http://server.test/toy" });

test("refusals are counted by reason, once for each request, and the reason is the last label", () => {
  const metrics = createMetrics();
  const refused = refusalMetrics(metrics);
  const replayed = new AgentError("replayed", "again", { detail: { reason: "invalid_nonce" } });
  const same = head();
  refused(same, replayed, "toy");
  refused(same, new AgentError("forbidden", "the same request"), "toy");
  refused(head(), replayed, "toy");
  refused(head(), new AgentError("bad_signature", "too little", { detail: { reason: "sig.alg-mismatch" } }), "toy");
  refused(head(), new AgentError("forbidden", "no reason but its code"), "toy");
  expect(prometheusText(metrics.families()).split("\n").slice(2)).toEqual([
    'CALLERS_REFUSED{src_agent="other",dst_id="other",protocol="toy",reason="invalid_nonce"} 2',
    'CALLERS_REFUSED{src_agent="other",dst_id="other",protocol="toy",reason="sig.alg-mismatch"} 1',
    'CALLERS_REFUSED{src_agent="other",dst_id="other",protocol="toy",reason="forbidden"} 1',
    "",
  ]);
});

test.each(["Anything a peer says", "x".repeat(41), "", 'a"b'])("a reason that is no name (%j) becomes the code", (reason) => {
  const metrics = createMetrics();
  refusalMetrics(metrics)(head(), new AgentError("forbidden", "", { detail: { reason } }), "toy");
  const [sample] = metrics.families().find(({ name }) => name === "CALLERS_REFUSED")?.samples ?? [];
  expect(sample?.edge.reason).toBe("forbidden");
});

test("a series with a reason can be removed, and one without it stays", () => {
  const family = createMetrics();
  const counter = family.counter("X", "x");
  const edge = { srcAgent: "a", dstId: "b", protocol: "c" };
  counter.edge(edge).add(1);
  counter.edge({ ...edge, reason: "r" }).add(2);
  counter.remove({ ...edge, reason: "r" });
  expect(family.families().find(({ name }) => name === "X")?.samples).toEqual([{ edge, value: 1 }]);
});
