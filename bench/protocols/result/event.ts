import { z } from "zod";
import { PEER_EVENTS } from "./peer-event.js";
import { FAULT_KINDS, PLAN } from "./plan.js";

/**
 * The raw events of a benchmark, one JSON object per line. Everything in a result file is computed from them. Times are nanoseconds on
 * the machine's monotonic clock, counted from the start of the run, so that stamps of different processes can be subtracted.
 */

const ns = z.number();
const count = z.number().int().nonnegative();
const name = z.string().min(1).max(200);
const hash = z.string().max(128);

/** Stamps of the caller, in the order in which they are taken. Absent: an implementation that does not show it. */
const CALLER_STAMPS = {
  /** When the schedule wanted it sent. Equal to `send` in a closed loop. */
  intended: ns,
  /** The paper's send: a client takes it up. */
  send: ns,
  encodeStart: ns.optional(),
  /** Encoded, handed to the transport. */
  write: ns.optional(),
  /** The last byte of the reply. */
  replyEnd: ns.optional(),
  firstToken: ns.optional(),
  /** Decoded and delivered, or given up. */
  done: ns,
} as const;

/** Stamps of the agent. */
const AGENT_STAMPS = {
  /** The request has arrived. */
  received: ns.optional(),
  /** Decoded; waits for the handler. */
  queueStart: ns.optional(),
  serviceStart: ns,
  /** The handler has the first piece of its answer, where answers are streamed. */
  firstToken: ns.optional(),
  /** Absent for a request whose handler did not end. */
  serviceEnd: ns.optional(),
  /** The reply is encoded and handed to the transport. */
  replyStart: ns.optional(),
} as const;

export const PHASES = ["warm-up", "measure"] as const;

export const EVENTS = {
  /** The first line of a folder, and once more with each `--resume`. */
  plan: z.strictObject({ type: z.literal("plan"), plan: PLAN }),
  /** A run begins. `attempt` counts from 1; `--resume` repeats interrupted runs. */
  "run-started": z.strictObject({ type: z.literal("run-started"), run: name, attempt: count.min(1), at: z.string() }),
  /** A process is up, or was started again. */
  "process-started": z.strictObject({
    type: z.literal("process-started"),
    run: name,
    process: name,
    agents: z.array(name),
    pid: count,
    ns,
    restart: count,
  }),
  /** The configuration that a process really uses. Compared between arms. */
  configuration: z.strictObject({
    type: z.literal("configuration"),
    run: name,
    process: name,
    values: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  }),
  phase: z.strictObject({ type: z.literal("phase"), run: name, phase: z.enum([...PHASES, "end"]), ns }),
  /** A request as its caller saw it. */
  request: z.strictObject({
    type: z.literal("request"),
    run: name,
    /** Position in the sequence of the run: the same number is the same request in every arm of a block. */
    seq: count,
    phase: z.enum(PHASES),
    to: name,
    /** `timeout`: enters latencies as at least the limit. `dropped`: never sent, because too many were in flight. */
    outcome: z.enum(["answered", "failed", "timeout", "dropped"]),
    error: z.string().max(500).optional(),
    attempts: count,
    /** Attempts that ended because the agent could not be reached or the connection broke. Absent: none. */
    networkErrors: count.min(1).optional(),
    stamps: z.strictObject(CALLER_STAMPS),
    /** Bytes of the business payload, without any envelope. */
    payloadBytes: count,
    answerBytes: count,
    /** Bytes of the protocol's bodies, where the implementation shows them. */
    bodyBytes: z.strictObject({ sent: count, received: count }).optional(),
    /** Events of a streamed answer. */
    streamEvents: count,
    payloadHash: hash,
    answerHash: hash.optional(),
  }),
  /** The same request as the agent saw it; once per time that it arrived. */
  service: z.strictObject({
    type: z.literal("service"),
    run: name,
    seq: count,
    agent: name,
    stamps: z.strictObject(AGENT_STAMPS),
    payloadHash: hash,
    answerHash: hash.optional(),
  }),
  /** Bytes that passed an edge since the start of the run, counted by the proxy in the path. */
  wire: z.strictObject({
    type: z.literal("wire"),
    run: name,
    edge: name,
    phase: z.enum([...PHASES, "end"]),
    connections: count,
    sent: count,
    received: count,
  }),
  usage: z.strictObject({
    type: z.literal("usage"),
    run: name,
    process: name,
    phase: z.enum([...PHASES, "end"]),
    cpuUs: z.number(),
    rssBytes: z.number(),
  }),
  /** A fault was injected (`begin`) or taken back (`end`). `verifiedNs`: when the death was seen (process gone, port refuses). */
  fault: z.strictObject({
    type: z.literal("fault"),
    run: name,
    kind: z.enum(FAULT_KINDS),
    step: z.enum(["begin", "end"]),
    target: name,
    ns,
    verifiedNs: ns.optional(),
  }),
  "run-ended": z.strictObject({
    type: z.literal("run-ended"),
    run: name,
    attempt: count.min(1),
    status: z.enum(["complete", "interrupted", "failed"]),
    reason: z.string().max(2000).optional(),
    seconds: z.number(),
  }),
} as const;

export const BENCH_EVENT = z.discriminatedUnion("type", [
  EVENTS.plan,
  EVENTS["run-started"],
  EVENTS["process-started"],
  EVENTS.configuration,
  EVENTS.phase,
  EVENTS.request,
  EVENTS.service,
  PEER_EVENTS["peer-request"],
  PEER_EVENTS["peer-service"],
  PEER_EVENTS.note,
  EVENTS.wire,
  EVENTS.usage,
  EVENTS.fault,
  EVENTS["run-ended"],
]);

export type BenchEvent = z.infer<typeof BENCH_EVENT>;
export type BenchEventOf<T extends BenchEvent["type"]> = Extract<BenchEvent, { type: T }>;
export type RequestEvent = BenchEventOf<"request">;
export type ServiceEvent = BenchEventOf<"service">;
