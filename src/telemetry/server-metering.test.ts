import { describe, expect, test } from "vitest";
import { chunks, count, message, requestOf, send, streamed, whole } from "../../test/helpers/telemetry.js";
import { AgentError, type AgentEvent, ownerOf, startCall } from "../envelope/index.js";
import { stack } from "../policies/index.js";
import type { Chunk } from "../transport/exchange.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { MemoryRequest } from "../transport/memory-request.js";
import { createMetrics } from "./metrics.js";
import { createTelemetry } from "./telemetry.js";

describe("metrics of a server", () => {
  const principal = (scheme: "bearer" | "anonymous", id: string) => ({ id, scheme, scopes: [], owner: ownerOf(scheme, id) });
  const via = { protocol: "p", version: "1", binding: "b" };

  test("labels are the authenticated caller, the agent and the wire; bytes belong to the call", async () => {
    const metrics = createMetrics();
    const telemetry = createTelemetry({ metrics, serves: (agent) => agent === "translator" });
    const handler = stack([telemetry.server()])(async () => message);
    const calls = [
      startCall({ agent: "translator", caller: principal("bearer", "alice"), via }),
      startCall({ agent: "translator", caller: principal("anonymous", "whatever it says"), via }),
      startCall({ agent: "made up by the caller", caller: principal("bearer", "alice"), via }),
    ];
    for (const call of calls) {
      const exchange = telemetry.exchange(async (request) => {
        request.call = call;
        await handler(send("hi"), call);
        return whole("12345");
      });
      await exchange(requestOf("0123456789", call, { received: true }));
    }
    const edges = [
      { srcAgent: "alice", dstId: "translator", protocol: "p" },
      { srcAgent: "anonymous", dstId: "translator", protocol: "p" },
      { srcAgent: "alice", dstId: "other", protocol: "p" },
    ];
    const samples = (name: string) => metrics.families().find((family) => family.name === name)?.samples;
    expect(samples("MSG_BYTES")).toEqual(edges.map((edge) => ({ edge, value: 15 })));
    expect(samples("MSG_BYTES_PAYLOAD")).toEqual(edges.map((edge) => ({ edge, value: 10 })));
    expect(samples("REQUEST_LATENCY")).toMatchObject(edges.map((edge) => ({ edge, cumulative: { length: 17 } })));
  });

  test("a body that was forgotten before the answer is counted", async () => {
    const metrics = createMetrics();
    const telemetry = createTelemetry({ metrics });
    const call = startCall({ agent: "translator", via });
    const received = new MemoryRequest(requestOf("0123456789", call), call.cancel, DEFAULT_LIMITS);
    await telemetry.exchange((request) => {
      request.call = call;
      request.forgetBody?.();
      return whole("12345");
    })(received.receiveBody(new Uint8Array(10)));
    const samples = metrics.families().find((family) => family.name === "MSG_BYTES")?.samples;
    expect(samples).toMatchObject([{ value: 15 }]);
  });

  test("a request that became no call is not counted; a streamed answer is, chunk by chunk", async () => {
    const metrics = createMetrics();
    const telemetry = createTelemetry({ metrics });
    await telemetry.exchange(() => whole("not found"))(requestOf("x", startCall(), { received: true }));
    expect(metrics.families()[1]?.samples).toEqual([]);
    const call = startCall({ agent: "translator", via });
    const response = await telemetry.exchange((request) => {
      request.call = call;
      return { ...streamed(chunks("12", "3")), trailers: () => ({ status: "0" }) };
    })(requestOf("0123456789", call, { received: true }));
    for await (const _chunk of response.body as AsyncIterable<Chunk>); // streamed above
    expect(count(metrics, "MSG_BYTES")).toBe(13);
    expect(response.trailers?.()).toEqual({ status: "0" });
  });

  test("a failing exchange passes its error on", async () => {
    const telemetry = createTelemetry({ metrics: createMetrics() });
    const broken = new AgentError("internal", "broken");
    const request = requestOf("x", startCall());
    await expect(telemetry.exchange(() => Promise.reject(broken))(request)).rejects.toBe(broken);
    const thrower = telemetry.exchange(() => {
      throw broken;
    });
    expect(() => thrower(request)).toThrow(broken);
  });

  test("a failed exchange is a failure, a failed task is an answer", async () => {
    const metrics = createMetrics();
    const layer = stack([createTelemetry({ metrics }).server()]);
    const failed: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "failed", at: 1 } };
    await layer(async () => failed)(send("hi"), startCall({ agent: "translator", via }));
    expect(count(metrics, "REQUEST_FAILURES")).toBe(0);
    const reply = layer(() => Promise.reject(new AgentError("overloaded", "full")))(
      send("hi"),
      startCall({ agent: "translator", via }),
    );
    await expect(reply).rejects.toMatchObject({ code: "overloaded" });
    expect(count(metrics, "REQUEST_FAILURES")).toBe(1);
  });
});
