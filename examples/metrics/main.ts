/** Observability: hooks around each call, and Prometheus text at /metrics of the admin listener, labelled by source, destination and protocol. */
import assert from "node:assert/strict";
import { agent, connect, serve } from "koine";
import { createMetrics, createTelemetry } from "koine/telemetry";

const sleeper = agent({
  name: "sleeper",
  description: "Answers, or fails",
  async handle(message, task) {
    return message.text === "fail" ? task.fail("as you wish") : "awake";
  },
});
const serving = createTelemetry({ metrics: createMetrics(), serves: (name) => name === "sleeper" });
const server = await serve(sleeper, { telemetry: serving, admin: {} });

const called: string[] = [];
const calling = createTelemetry({
  metrics: createMetrics(),
  hooks: {
    beforeEncode: () => called.push("beforeEncode"),
    afterTransport: () => called.push("afterTransport"),
    onDecode: () => called.push("onDecode"),
    onError: () => called.push("onError"),
  },
});
const peer = await connect(server.url, { as: "watcher", id: "sleeper", telemetry: calling });
try {
  assert.equal(await peer.ask("hello"), "awake");
  console.log(`hooks, in order: ${called.join(", ")}`);
  assert.deepEqual(called, ["beforeEncode", "afterTransport", "onDecode"]);

  const { url, token } = server.admin ?? assert.fail("there is an admin listener");
  const page = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const text = await page.text();
  assert.equal(page.status, 200);
  console.log(
    text
      .split("\n")
      .filter((line) => /^(MSG_BYTES|REQUEST_LATENCY_count)/.test(line))
      .join("\n"),
  );
  // Both sides count the message; neither counts the discovery of `connect`.
  assert.match(text, /REQUEST_LATENCY_count\{src_agent="anonymous",dst_id="sleeper",protocol="a2a"\} 1/);
  assert.match(calling.metricsText(), /REQUEST_LATENCY_count\{src_agent="watcher",dst_id="sleeper",protocol="a2a"\} 1/);
  assert.match(calling.metricsText(), /MSG_BYTES_PAYLOAD\{src_agent="watcher",dst_id="sleeper",protocol="a2a"\} 10/);
} finally {
  await peer.close();
  await server.close();
}
