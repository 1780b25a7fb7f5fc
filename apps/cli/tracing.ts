import { AgentError, type Maybe } from "../../src/index.js";
import { isTracingWanted, type OpenTracing, openTracing, type TracingRequest } from "../config/index.js";
import { usageError } from "./exit.js";

/** The options of every command that can export traces. */
export interface TraceOptions {
  readonly trace?: boolean;
  readonly otlpEndpoint?: string;
}

/** What the command line and the variables of OpenTelemetry ask for. Nothing is exported unless one of them does. */
export function tracingRequest({ trace, otlpEndpoint }: TraceOptions, env = process.env): Maybe<boolean | TracingRequest> {
  if (otlpEndpoint !== undefined) return { endpoint: otlpEndpoint };
  return trace === true || isTracingWanted(env) ? true : undefined;
}

/** Switches tracing on for this process, if it is asked for. */
export async function startTracing(
  options: TraceOptions,
  { notify, dropped = () => undefined }: { notify(line: string): void; dropped?: Maybe<(count: number) => void> },
): Promise<Maybe<OpenTracing>> {
  try {
    return await openTracing(tracingRequest(options), { env: process.env, notify, dropped });
  } catch (thrown) {
    if (!(thrown instanceof AgentError)) throw thrown;
    throw usageError(thrown.message, "It looks like http://127.0.0.1:4318");
  }
}
