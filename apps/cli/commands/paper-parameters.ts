/** A parameter of the paper's experiments. Loaded at every start for the help: no imports. */
export interface PaperParameter {
  readonly flag: string;
  readonly value: number;
  /** `time` is in seconds and divided by the time scale; `rate` is per second and multiplied with it; the others stay. */
  readonly kind: "time" | "rate" | "count" | "share";
  readonly about: string;
}

/** The parameters by name. Those that the paper does not state are marked as ours. */
export const PAPER_PARAMETERS = {
  connectTimeout: { flag: "--connect-timeout", value: 10, kind: "time", about: "connection_timeout" },
  messageTimeout: { flag: "--message-timeout", value: 30, kind: "time", about: "message_timeout" },
  cycleTimeout: {
    flag: "--cycle-timeout",
    value: 15,
    kind: "time",
    about: "qa_cycle_timeout: until the coordinator of a ring asks another agent",
  },
  retries: { flag: "--retries", value: 3, kind: "count", about: "max_retries, with exponential backoff" },
  backoff: { flag: "--backoff", value: 0.1, kind: "time", about: "before the first retry; the paper states none" },
  heartbeat: { flag: "--heartbeat", value: 10, kind: "time", about: "between heartbeats of a ring" },
  heartbeatTimeout: { flag: "--heartbeat-timeout", value: 30, kind: "time", about: "of silence until a peer is taken for dead" },
  runtime: { flag: "--runtime", value: 1_800, kind: "time", about: "of a run of Fail-Storm" },
  killEvery: { flag: "--kill-every", value: 120, kind: "time", about: "between storms" },
  killFraction: { flag: "--kill-fraction", value: 0.375, kind: "share", about: "of the agents in each storm: 3 of 8" },
  downFor: { flag: "--down-for", value: 2, kind: "time", about: "until a killed agent is started again" },
  entries: { flag: "--entries", value: 1_000, kind: "count", about: "of the queue" },
  batch: { flag: "--batch", value: 50, kind: "count", about: "entries that the coordinator loads at a time" },
  perWorker: { flag: "--per-worker", value: 5, kind: "count", about: "entries that a worker has at a time" },
  answerLimit: { flag: "--answer-limit", value: 60, kind: "time", about: "for an entry with all its attempts" },
  volume: { flag: "--volume", value: 50, kind: "count", about: "entries of the pressure task" },
  targetQps: { flag: "--target-qps", value: 20, kind: "rate", about: "offered load of the pressure task" },
  service: { flag: "--service", value: 9.6, kind: "time", about: "mean service time of the scripted model: the paper's latency" },
  serviceSpread: {
    flag: "--service-spread",
    value: 0.11,
    kind: "share",
    about: "deviation of service times by their mean: that of the paper's first row, 1.08 of 9.66 s",
  },
  secondService: { flag: "--second-service", value: 4.8, kind: "time", about: "of the second model of table 11; ours" },
  thirdService: { flag: "--third-service", value: 2.4, kind: "time", about: "of the third model of table 11; ours" },
  lookup: {
    flag: "--lookup",
    value: 0.5,
    kind: "time",
    about: "mean time in which an agent of a ring looks into its text; ours",
  },
  ringClients: { flag: "--ring-clients", value: 8, kind: "count", about: "questions under way in a ring: one for each agent" },
  capture: { flag: "--capture", value: 8, kind: "time", about: "of the network, in Safety" },
  questions: { flag: "--questions", value: 12, kind: "count", about: "of each level, in DocQA; the paper has 165 in all" },
} as const satisfies Readonly<Record<string, PaperParameter>>;

export type PaperParameterName = keyof typeof PAPER_PARAMETERS;

export const PAPER_PARAMETER_NAMES = Object.keys(PAPER_PARAMETERS) as readonly PaperParameterName[]; // its own keys
