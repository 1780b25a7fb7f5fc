import { z } from "zod";
import { PLANNED_QUESTION } from "../docqa/plan/planned-question.js";
import { DISTURBANCES } from "../docqa/team/disturbances.js";

/** Version of the events and of the result file. Raised when a member changes its meaning, or a required one is added. */
export const SCHEMA_VERSION = 3;

const count = z.number().int().nonnegative();
const name = z.string().min(1).max(200);

/** How requests are generated. `closed`: each client sends its next request after the answer. `open`: by a schedule of arrivals. */
export const LOAD = z.discriminatedUnion("loop", [
  z.strictObject({ loop: z.literal("closed"), clients: count.min(1) }),
  z.strictObject({
    loop: z.literal("open"),
    /** Offered load λ. */
    perSecond: z.number().positive(),
    arrivals: z.enum(["poisson", "constant"]),
    /** Requests in flight; an arrival above it is dropped and counted. */
    inFlight: count.min(1),
  }),
]);
export type Load = z.infer<typeof LOAD>;

export const FAULT_KINDS = ["kill", "stop", "listener", "delay", "loss", "partition"] as const;

/** One planned fault. Times are milliseconds from the begin of the measured window. */
export const PLANNED_FAULT = z.strictObject({
  kind: z.enum(FAULT_KINDS),
  /** An agent for `kill`, `stop` and `listener`; an edge for the others. */
  target: name,
  atMs: z.number().nonnegative(),
  /** How long it lasts; for `kill` until the process is started again. */
  forMs: z.number().nonnegative(),
  /** Added to each direction, for `delay`. */
  delayMs: z.number().nonnegative().optional(),
  /** Share of the connections that are cut, for `loss`. */
  share: z.number().min(0).max(1).optional(),
  /** What is hit by several faults at once: an agent that is cut off, or a link. Absent: the target. */
  victim: name.optional(),
});
export type PlannedFault = z.infer<typeof PLANNED_FAULT>;

export const RECOVERIES = ["journal", "neighbours", "off"] as const;

/** One set of circumstances that every arm is measured under. */
export const CONDITION = z.strictObject({
  id: name,
  load: LOAD,
  faults: z.array(PLANNED_FAULT),
  /** The number of agents, where it is not that of the settings. */
  agents: count.min(1).optional(),
  /** The coordinator is killed after so many answered entries, and started again. */
  coordinator: z.strictObject({ killAt: count.min(1), downForMs: z.number().nonnegative() }).optional(),
  /** The mean service time of a scripted model, where it is not that of the whole benchmark. */
  serviceMs: z.number().positive().optional(),
  /** The name of the live model, where it is not that of the whole benchmark. */
  modelName: name.optional(),
  /** Messages between agents that do not arrive as they were sent, in each question. */
  disturb: z.strictObject({ kind: z.enum(DISTURBANCES), count: count.min(1) }).optional(),
  /** Where an agent that was started again takes its state from. Absent: a scenario without. */
  recovery: z.enum(RECOVERIES).optional(),
  /** The offered load as a share of the measured capacity, where it was chosen so. */
  ofCapacity: z.number().positive().optional(),
});
export type Condition = z.infer<typeof CONDITION>;

export const FEATURE_PROFILES = ["envelope", "full"] as const;
export const IMPLEMENTATIONS = ["koine", "official"] as const;

/** One thing that is measured: a protocol in one implementation with one feature profile, or a control. */
export const ARM = z.strictObject({
  id: name,
  protocol: name,
  implementation: z.enum(IMPLEMENTATIONS),
  features: z.enum(FEATURE_PROFILES),
  /** By module: the protocol in which agents of that module are called. Agents of such an arm serve all of them. */
  assign: z.record(name, name).optional(),
  /** Agents and caller have identities: the protocol proves, signs and seals with them. */
  identities: z.literal(true).optional(),
  /** `same`: the second copy of an arm, which must come out equal. `dose`: with a known delay, which must be detected. */
  control: z.enum(["same", "dose"]).optional(),
  /** The arm that a control is compared with. */
  of: name.optional(),
  /** Added to each request on its way to the agent, in milliseconds. */
  doseMs: z.number().nonnegative().optional(),
});
export type Arm = z.infer<typeof ARM>;

/** One run of the plan, in the order in which they are executed. The seed is that of the block: all its arms draw the same. */
export const PLANNED_RUN = z.strictObject({
  run: name,
  block: count,
  position: count,
  arm: name,
  condition: name,
  seed: count,
});
export type PlannedRun = z.infer<typeof PLANNED_RUN>;

/**
 * How requests find agents: each in turn; all from one queue as soon as they are free; each request names its own; in turn, and the next one
 * for one that is gone.
 */
export const DISPATCHES = ["turns", "queue", "named", "ring"] as const;
export type Dispatch = (typeof DISPATCHES)[number];

/** The settings of a benchmark, with the names of the paper where it has them. */
export const SETTINGS = z.strictObject({
  /** R: runs of each arm, one per block. */
  runs: count.min(1),
  /** W: time before the measured window. Its requests are sent and not measured. */
  warmUpMs: z.number().nonnegative(),
  /** T_meas: the limit of the measured window. */
  measureMs: z.number().positive(),
  /** The window also ends after so many requests. */
  requests: count.min(1),
  seed: count,
  /** Agents that are called. A condition may have another number. */
  agents: count.min(1),
  /** Hosts that processes are spread over, the first that of the caller. Absent: all are on this one. */
  hosts: count.min(2).optional(),
  /** Absent: `turns`. */
  dispatch: z.enum(DISPATCHES).optional(),
  /** Which agents can call each other, each over an edge of its own. Absent: none. */
  topology: z.enum(["mesh"]).optional(),
  /** What agents do with a message, by name. Absent: the model answers. */
  behaviour: name.optional(),
  /** Where the coordinator of a queue keeps it. Absent: in its memory. */
  queue: z.enum(["memory", "redis"]).optional(),
  /** Bytes of text in each request; 0: requests carry entries, of their own length. */
  payloadBytes: count,
  model: z.enum(["null", "scripted", "recorded", "live"]),
  /** Service times of scripted answers: their mean, and their deviation by it. Without a deviation they are exponential. */
  service: z.strictObject({ meanMs: z.number().nonnegative(), spread: z.number().nonnegative().optional() }).optional(),
  connectTimeoutMs: z.number().positive(),
  messageTimeoutMs: z.number().positive(),
  /** How long agents may work together on a request, in a scenario where they do. */
  budgetMs: z.number().positive().optional(),
  /** Of each attempt of the caller. Absent: that of the message. */
  attemptTimeoutMs: z.number().positive().optional(),
  /** How long an entry may take with all its attempts, its time in the queue included. Absent: each attempt has its own limit. */
  answerLimitMs: z.number().positive().optional(),
  /** Entries are loaded so many at a time; the next ones when all of these have ended. Absent: all at once. */
  batch: count.min(1).optional(),
  /** Entries that a worker of a queue has at a time. Absent: one. */
  perWorker: count.min(1).optional(),
  /** Retries by the caller, which is the only owner of retries. */
  retries: count,
  backoffMs: z.number().nonnegative(),
  /** What is held fixed between arms (the ablations of the paper). */
  freeze: z.array(z.enum(["topology", "planner"])),
});
export type Settings = z.infer<typeof SETTINGS>;

/** What the router decided about the modules of a scenario. */
export const ROUTING = z.strictObject({
  scenario: name,
  decisions: z.array(z.strictObject({ module: name, protocol: name, rationale: z.string() })),
  /** Why there is no plan: a module for which no protocol that is measured is feasible. */
  infeasible: z.string().optional(),
});

export const MODES = ["quick", "full", "custom"] as const;

/** What is to be measured. The first event of a folder. */
export const PLAN = z.strictObject({
  schema: z.literal(SCHEMA_VERSION),
  scenario: name,
  mode: z.enum(MODES),
  settings: SETTINGS,
  arms: z.array(ARM).min(1),
  conditions: z.array(CONDITION).min(1),
  runs: z.array(PLANNED_RUN),
  /** The metric of the run summary that decides about this scenario. */
  primary: name,
  /** Two arms whose difference is within this many microseconds are called equal. */
  marginUs: z.number().positive(),
  /** The questions that are asked, each with its team, in a scenario that has them. */
  questions: z.array(PLANNED_QUESTION).optional(),
  /** What the router decided about the modules of the scenario, where one arm executes its plan. */
  routing: ROUTING.optional(),
  /** Whether several agents share a process (above 32 agents). */
  sharedProcesses: z.boolean(),
});
export type Plan = z.infer<typeof PLAN>;
