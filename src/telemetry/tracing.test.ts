import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import {
  AgentError,
  type AgentEvent,
  type Call,
  type Handler,
  type Loss,
  NO_META,
  type Operation,
  startCall,
} from "../envelope/index.js";
import { createTelemetry } from "./telemetry.js";
import { createTracing } from "./tracing.js";

const EDGE = { srcAgent: "planner", dstId: "translator", protocol: "p" };
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const HEADER = `00-${TRACE}-00f067aa0ba902b7-01`;
const via = { protocol: "p", version: "1", binding: "b" };
const DONE: AgentEvent = { kind: "done" };
const completed: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "completed", at: 2 } };

function send(more: { readonly traceId?: string; readonly sessionId?: string } = {}): Operation {
  const envelope = {
    id: "m",
    ts: 1,
    src: "a",
    dst: "b",
    intent: "",
    role: "user",
    content: [],
    context: more,
    meta: NO_META,
  } as const;
  return { kind: "send", envelope, delivery: "answer", task: "auto" };
}

/** What a protocol client and server do with the header between them. */
function overTheWire(serve: Handler): Handler {
  return (operation, call) => {
    const { traceparent } = call.parameters;
    return serve(
      operation,
      startCall({ agent: "translator", via, parameters: traceparent === undefined ? {} : { traceparent } }),
    );
  };
}

describe("without a registered provider", () => {
  test("every call passes untouched, and a header still travels", async () => {
    const tracing = createTracing();
    const call = startCall({ parameters: { traceparent: HEADER } });
    const answer = Promise.resolve(DONE);
    let seen: Call | undefined;
    const reply = tracing.client(EDGE)((_operation, below) => {
      seen = below;
      return answer;
    })(send(), call);
    expect(reply).toBe(answer);
    expect(seen).toBe(call);
    expect(await tracing.server()(async () => DONE)(send(), call)).toBe(DONE);
  });
});

describe("with a provider", () => {
  const exporter = new InMemorySpanExporter();
  // Made before the provider is registered: applications may do it in either order.
  const telemetry = createTelemetry({ tracing: true });
  const client = telemetry.client(EDGE, "https://peer.test/p") ?? ((next) => next);
  const server = telemetry.server() ?? ((next) => next);
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });

  test("spans start when a provider is registered", async () => {
    await client(async () => DONE)(send(), startCall());
    expect(exporter.getFinishedSpans()).toEqual([]);
    provider.register();
    await client(async () => DONE)(send(), startCall());
    expect(exporter.getFinishedSpans()).toHaveLength(1);
  });

  afterEach(() => exporter.reset());
  afterAll(async () => {
    await provider.shutdown();
    trace.disable();
    context.disable();
  });

  test("names, kinds, attributes; nothing of the content", async () => {
    await client(overTheWire(server(async () => completed)))(send({ sessionId: "s-1" }), startCall());
    const [served, called] = exporter.getFinishedSpans();
    const both = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "translator",
      "gen_ai.conversation.id": "s-1",
      "koine.protocol": "p",
      "koine.operation": "send",
      "koine.task.state": "completed",
    };
    expect(called?.name).toBe("invoke_agent translator");
    expect(called?.kind).toBe(SpanKind.CLIENT);
    expect(called?.attributes).toEqual({ ...both, "server.address": "peer.test", "server.port": 443 });
    expect(served?.name).toBe("invoke_agent translator");
    expect(served?.kind).toBe(SpanKind.SERVER);
    expect(served?.attributes).toEqual(both);
  });

  test("one trace: caller, client, server, the agent's own work, and its call onward", async () => {
    const tracer = trace.getTracer("test");
    const onward = client(overTheWire(server(async () => DONE)));
    const agent: Handler = async (operation, call) => {
      tracer.startSpan("own work").end();
      return onward(operation, call) as Promise<AgentEvent>; // both answer with one event
    };
    await tracer.startActiveSpan("caller", async (span) => {
      await client(overTheWire(server(agent)))(send(), startCall());
      span.end();
    });
    const spans = exporter.getFinishedSpans();
    const parentOf = (index: number) =>
      spans.find((span) => span.spanContext().spanId === spans[index]?.parentSpanContext?.spanId);
    expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
      ["own work", SpanKind.INTERNAL],
      ["invoke_agent translator", SpanKind.SERVER],
      ["invoke_agent translator", SpanKind.CLIENT],
      ["invoke_agent translator", SpanKind.SERVER],
      ["invoke_agent translator", SpanKind.CLIENT],
      ["caller", SpanKind.INTERNAL],
    ]);
    expect([0, 1, 2, 3, 4].map(parentOf)).toEqual([spans[3], spans[2], spans[3], spans[4], spans[5]]);
    expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
    expect(spans[3]?.parentSpanContext?.isRemote).toBe(true);
  });

  test("an inbound header is continued, and outbound calls name the new span", async () => {
    let below: Call | undefined;
    await server(async (_operation, call) => {
      below = call;
      return DONE;
    })(send(), startCall({ agent: "translator", via, parameters: { traceparent: HEADER, tracestate: "vendor=1", tenant: "x" } }));
    const [span] = exporter.getFinishedSpans();
    expect(span?.spanContext().traceId).toBe(TRACE);
    expect(span?.parentSpanContext?.spanId).toBe("00f067aa0ba902b7");
    expect(below?.parameters).toEqual({
      traceparent: `00-${TRACE}-${span?.spanContext().spanId}-01`,
      tracestate: "vendor=1",
      tenant: "x",
    });
  });

  test("the trace a message names is kept", async () => {
    await client(async () => DONE)(send({ traceId: "4bf92f35-77b3-4da6-a3ce-929d0e0e4736" }), startCall());
    expect(exporter.getFinishedSpans()[0]?.spanContext().traceId).toBe(TRACE);
  });

  test("an invalid header starts a new trace", async () => {
    await server(async () => DONE)(send(), startCall({ via, parameters: { traceparent: "garbage" } }));
    expect(exporter.getFinishedSpans()[0]?.parentSpanContext).toBeUndefined();
  });

  test("a failure is recorded by code, not by message", async () => {
    const thrown = new AgentError("overloaded", "something private");
    await expect(client(() => Promise.reject(thrown))(send(), startCall())).rejects.toBe(thrown);
    const [span] = exporter.getFinishedSpans();
    expect(span?.attributes["error.type"]).toBe("overloaded");
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
  });

  test("a stream is one span to its end, and each pull runs inside it", async () => {
    const inside: (string | undefined)[] = [];
    const agent: Handler = async function* () {
      inside.push(trace.getActiveSpan()?.spanContext().spanId);
      yield completed;
      inside.push(trace.getActiveSpan()?.spanContext().spanId);
    };
    for await (const _event of server(agent)(send(), startCall({ via })) as AsyncIterable<AgentEvent>)
      expect(exporter.getFinishedSpans()).toEqual([]);
    const [span, ...others] = exporter.getFinishedSpans();
    expect(others).toEqual([]);
    expect(inside).toEqual([span?.spanContext().spanId, span?.spanContext().spanId]);
  });

  test("a reader that leaves ends the span, without an error", async () => {
    const agent: Handler = async function* () {
      yield completed;
      yield completed;
    };
    for await (const _event of server(agent)(send(), startCall({ via })) as AsyncIterable<AgentEvent>) break;
    expect(exporter.getFinishedSpans().map(({ status }) => status.code)).toEqual([SpanStatusCode.UNSET]);
  });

  test("a loss is an event of the span, and still reaches the caller", async () => {
    const loss: Loss = { protocol: "p", path: "message.parts[0].name", valueKind: "string", reason: "no place for it" };
    const heard: Loss[] = [];
    await client(async (_operation, call) => {
      call.reportLoss(loss);
      return DONE;
    })(send(), startCall({ reportLoss: (one) => void heard.push(one) }));
    expect(heard).toEqual([loss]);
    expect(exporter.getFinishedSpans()[0]?.events).toMatchObject([
      { name: "koine.loss", attributes: { path: "message.parts[0].name", "value.kind": "string", reason: "no place for it" } },
    ]);
  });
});
