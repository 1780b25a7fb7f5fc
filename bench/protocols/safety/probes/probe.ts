import type { RawAnswer, SentRequest } from "../members/tasks.js";
import type { ProbeConfig, ProbeName } from "../probe-config.js";
import type { Attempt, Observation } from "../result/event.js";
import type { Stage } from "../stage.js";

/** What is written beside the result: requests, answers, excerpts of what was captured. */
export type Evidence = Readonly<Record<string, unknown>>;

/** What one attempt showed. */
export interface Shown {
  readonly observed: Observation;
  readonly evidence: Evidence;
  /** What must hold for the result to count. */
  readonly controls?: Attempt["controls"];
}

export interface AttemptPlan {
  readonly variant: string;
  readonly round?: number;
  /** Default: true. */
  readonly scored?: boolean;
  /** The right refusals. */
  readonly refusals: Attempt["refusals"];
  run(): Promise<Shown>;
}

/** What a probe works with. It knows the contract of protocols and no protocol. */
export interface ProbeContext {
  readonly stage: Stage;
  readonly config: ProbeConfig;
  readonly signal: AbortSignal;
  /** Runs one attempt between two legitimate requests, and records it. */
  attempt(plan: AttemptPlan): Promise<void>;
}

export interface Probe {
  readonly name: ProbeName;
  run(context: ProbeContext): Promise<void>;
}

/** A request for evidence: its text where it has one. */
export function shownRequest({ method, url, headers, body }: SentRequest): Evidence {
  const text = Buffer.from(body).toString("utf8");
  const isText = Buffer.from(text).equals(Buffer.from(body));
  return { method, url, headers, ...(isText ? { body: text } : { base64: Buffer.from(body).toString("base64") }) };
}

export function shownAnswer(answer: RawAnswer | undefined): Evidence {
  return { ...answer };
}

/** 1 to `rounds`. */
export function* numbered(rounds: number): Generator<number> {
  for (let round = 1; round <= rounds; round++) yield round;
}
