import type { BenchEvent, BenchEventOf, RequestEvent, ServiceEvent } from "./event.js";
import type { Plan, PlannedRun } from "./plan.js";

/** The events of one run, of its last attempt. */
export interface RunEvents {
  readonly planned: PlannedRun;
  readonly attempt: number;
  readonly ended: BenchEventOf<"run-ended"> | undefined;
  readonly processes: readonly BenchEventOf<"process-started">[];
  readonly configurations: readonly BenchEventOf<"configuration">[];
  readonly phases: readonly BenchEventOf<"phase">[];
  readonly requests: readonly RequestEvent[];
  readonly services: readonly ServiceEvent[];
  readonly peerRequests: readonly BenchEventOf<"peer-request">[];
  readonly peerServices: readonly BenchEventOf<"peer-service">[];
  readonly notes: readonly BenchEventOf<"note">[];
  readonly wires: readonly BenchEventOf<"wire">[];
  readonly usages: readonly BenchEventOf<"usage">[];
  readonly faults: readonly BenchEventOf<"fault">[];
}

export interface Measured {
  readonly plan: Plan;
  /** How often it was resumed. */
  readonly resumed: number;
  /** The runs that were begun, in the order of the plan. */
  readonly runs: readonly RunEvents[];
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] extends readonly (infer Item)[] ? Item[] : T[Key] };

/** Sorts the events of a folder by run. Throws Error for events that cannot come from one benchmark. */
export function measuredIn(events: Iterable<BenchEvent>): Measured {
  let plan: Plan | undefined;
  let resumed = -1;
  const runs = new Map<string, Mutable<RunEvents>>();
  for (const event of events) {
    if (event.type === "plan") {
      plan ??= event.plan;
      resumed++;
      continue;
    }
    if (plan === undefined) throw new Error("the first event is not the plan");
    if (event.type === "run-started") runs.set(event.run, started(plan, event));
    else add(runs.get(event.run) ?? unknownRun(event.run), event);
  }
  if (plan === undefined) throw new Error("there are no events");
  const inOrder = plan.runs.flatMap(({ run }) => runs.get(run) ?? []);
  return { plan, resumed, runs: inOrder };
}

function started(plan: Plan, { run, attempt }: BenchEventOf<"run-started">): Mutable<RunEvents> {
  const planned = plan.runs.find((each) => each.run === run) ?? unknownRun(run);
  return {
    planned,
    attempt,
    ended: undefined,
    processes: [],
    configurations: [],
    phases: [],
    requests: [],
    services: [],
    peerRequests: [],
    peerServices: [],
    notes: [],
    wires: [],
    usages: [],
    faults: [],
  };
}

function unknownRun(run: string): never {
  throw new Error(`an event belongs to the run ${run}, which was not begun`);
}

function add(run: Mutable<RunEvents>, event: Exclude<BenchEvent, { type: "plan" | "run-started" }>): void {
  switch (event.type) {
    case "process-started":
      return void run.processes.push(event);
    case "configuration":
      return void run.configurations.push(event);
    case "phase":
      return void run.phases.push(event);
    case "request":
      return void run.requests.push(event);
    case "service":
      return void run.services.push(event);
    case "peer-request":
      return void run.peerRequests.push(event);
    case "peer-service":
      return void run.peerServices.push(event);
    case "note":
      return void run.notes.push(event);
    case "wire":
      return void run.wires.push(event);
    case "usage":
      return void run.usages.push(event);
    case "fault":
      return void run.faults.push(event);
    case "run-ended":
      run.ended = event;
  }
}
