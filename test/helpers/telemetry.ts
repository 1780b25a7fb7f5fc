import { type AgentEvent, type Call, NO_CONTEXT, type Operation, textPart } from "../../src/envelope/index.js";
import type { Metrics } from "../../src/telemetry/metrics.js";
import type { Chunk, HttpRequest, HttpResponse } from "../../src/transport/exchange.js";

/** Requests, answers and events of tests of telemetry, and what was counted of them. */

const ANSWER = textPart("réponse"); // eight bytes

export function send(text: string, retryCount?: number): Operation {
  const envelope = { id: "m", ts: 1, src: "a", dst: "b", intent: "", role: "user", content: [textPart(text)] } as const;
  return { kind: "send", envelope: { ...envelope, context: NO_CONTEXT, meta: { retryCount } }, delivery: "answer", task: "auto" };
}

export function requestOf(body: string, call: Call, { received = false } = {}): HttpRequest {
  return {
    method: "POST",
    path: "/p",
    query: "",
    target: "http://peer.test/p?token=secret",
    headers: { traceparent: call.parameters["traceparent"] },
    rawHeaders: [],
    body: new TextEncoder().encode(body),
    json: () => undefined,
    connection: { remote: "", secure: false, loopback: true },
    cancel: call.cancel,
    call: received ? undefined : call,
    admitted: undefined,
    signer: undefined,
  };
}

export const message: AgentEvent = {
  kind: "message",
  message: { id: "r", ts: 2, src: "b", dst: "a", intent: "", role: "agent", content: [ANSWER], context: NO_CONTEXT, meta: {} },
};

export const whole = (body: Chunk): HttpResponse => ({ status: 200, headers: {}, body });
export async function* chunks(...parts: readonly Chunk[]): AsyncGenerator<Chunk> {
  yield* parts;
}
export const streamed = (body: AsyncIterable<Chunk>): HttpResponse => ({ status: 200, headers: {}, body });

export function count(metrics: Metrics, name: string): unknown {
  const [sample] = metrics.families().find((family) => family.name === name)?.samples ?? [];
  return sample === undefined ? undefined : "value" in sample ? sample.value : sample.cumulative.at(-1);
}
