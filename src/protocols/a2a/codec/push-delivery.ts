import {
  type AgentEvent,
  isObject,
  isPromise,
  type JsonObject,
  type Maybe,
  type PushConfig,
  type PushDelivery,
  type Reply,
} from "../../../envelope/index.js";
import { writeTimestamp } from "../../../transport/timestamp.js";

const STATES: readonly PushDelivery["state"][] = ["waiting", "pending", "retrying", "gave_up"];

export function writeDelivery(delivery: Maybe<PushDelivery>): Maybe<JsonObject> {
  if (delivery === undefined) return undefined;
  const { state, seq, failures, nextAt, problem } = delivery;
  return { state, seq, failures, nextAt: nextAt === undefined ? undefined : writeTimestamp(nextAt), problem };
}

/** A member of the same name in another format is ignored. */
export function readDelivery(value: unknown): Maybe<PushDelivery> {
  if (!isObject(value)) return undefined;
  const state = STATES.find((known) => known === value["state"]);
  const { seq, failures, nextAt, problem } = value;
  if (state === undefined || typeof seq !== "number" || typeof failures !== "number") return undefined;
  const at = typeof nextAt === "string" ? Date.parse(nextAt) : Number.NaN;
  return {
    state,
    seq,
    failures,
    nextAt: Number.isNaN(at) ? undefined : at,
    problem: typeof problem === "string" ? problem : undefined,
  };
}

/** The reply for a caller that did not name the extension. */
export function withoutDelivery(reply: Reply): Reply {
  return isPromise(reply) ? reply.then(hidden) : reply;
}

function hidden(event: AgentEvent): AgentEvent {
  if (event.kind === "push") return { ...event, config: bare(event.config) };
  return event.kind === "pushes" ? { ...event, configs: event.configs.map(bare) } : event;
}

function bare({ delivery: _, ...config }: PushConfig): PushConfig {
  return config;
}
