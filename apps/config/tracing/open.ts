import { randomBytes } from "node:crypto";
import * as api from "@opentelemetry/api";
import type { Maybe } from "../../../src/index.js";
import { type OpenTracing, readTracing, type TracingParts, type TracingRequest } from "./settings.js";
import { SpanQueue } from "./span-queue.js";
import { createContextManager, createProvider } from "./tracer.js";

/** Registers a tracer provider that exports by OTLP/HTTP. One that the application registered before is used instead. */
export function openOtlpTracing(request: TracingRequest, { env, notify, dropped }: TracingParts): OpenTracing {
  const settings = readTracing(request, env);
  for (const warning of settings.warnings) notify(warning);
  const { url, headers, timeoutMs, batch, resource, sampler } = settings;
  const { host } = new URL(url);
  const queue = new SpanQueue({
    sender: { url, headers, timeoutMs, random: Math.random },
    batch,
    resource,
    dropped,
    failing: (reason: Maybe<string>) =>
      notify(reason === undefined ? `Traces are exported to ${host} again` : `Traces cannot be exported to ${host}: ${reason}`),
  });
  const provider = createProvider({
    api,
    sampler,
    now: () => performance.timeOrigin + performance.now(),
    newId: (bytes) => randomBytes(bytes).toString("hex"),
    ended: (span) => queue.add(span),
  });
  if (!api.trace.setGlobalTracerProvider(provider)) {
    notify("Traces are exported by the tracer provider that an agent registered, not by OTLP settings");
    return { host, close: async () => undefined };
  }
  const isActive = api.context.setGlobalContextManager(createContextManager(api));
  return {
    host,
    async close() {
      await queue.close();
      api.trace.disable();
      if (isActive) api.context.disable();
    },
  };
}
