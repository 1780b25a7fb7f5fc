import { median, medianInterval } from "../../harness/statistics.js";
import { latencyUs } from "./latency.js";
import type { Arm, Condition, Plan } from "./plan.js";
import type { Control } from "./result.js";
import type { RunEvents } from "./run-events.js";

const US_PER_MS = 1_000;
/** Nearer to the capacity the queue grows with every small delay: two copies of one arm then differ by chance. */
const MOST_OF_CAPACITY = 0.8;

/** Each control arm against its arm, under every condition. */
export function controlsOf(plan: Plan, events: readonly RunEvents[]): readonly Control[] {
  return plan.arms.flatMap((arm) =>
    arm.control === undefined || arm.of === undefined
      ? []
      : plan.conditions
          .filter((condition) => whyNotJudged(condition, plan) === undefined)
          .map(({ id }) => controlOf({ kind: arm.control ?? "same", arm, of: arm.of ?? "", condition: id }, plan, events)),
  );
}

/** Why controls say nothing under a condition; undefined where they are judged. */
export function whyNotJudged(
  { faults, coordinator, disturb, ofCapacity = 0 }: Condition,
  { conditions }: Pick<Plan, "conditions">,
): string | undefined {
  // Where nothing is measured without faults, the requests before the first one are compared.
  const alwaysFaulty = conditions.every((each) => each.faults.length > 0);
  if ((faults.length > 0 && !alwaysFaulty) || coordinator !== undefined || disturb !== undefined)
    return "not judged: what a fault meets differs from run to run";
  return ofCapacity > MOST_OF_CAPACITY
    ? `not judged: above ${100 * MOST_OF_CAPACITY} % of the capacity the queue grows by itself`
    : undefined;
}

interface Asked {
  readonly kind: Control["kind"];
  readonly arm: Arm;
  readonly of: string;
  readonly condition: string;
}

function controlOf({ kind, arm, of, condition }: Asked, plan: Plan, events: readonly RunEvents[]): Control {
  const byBlock = pairedDifferences(plan, events, { condition, arm: of, control: arm.id });
  const differences = byBlock.flatMap(({ values }) => values);
  const interval = medianInterval(differences);
  const [lowUs, highUs] = interval ?? [null, null];
  const medianUs = differences.length === 0 ? null : median(differences);
  const passed = interval !== undefined && (kind === "same" ? isSame(interval, plan.marginUs) : interval[0] > plan.marginUs);
  const facts = {
    kind,
    condition,
    arm: of,
    control: arm.id,
    pairs: differences.length,
    medianUs,
    lowUs,
    highUs,
    blocks: byBlock.map(blockOf),
  };
  return { passed, statement: statementOf({ ...facts, passed }, plan.marginUs, arm.doseMs ?? 0), ...facts };
}

function isSame([low, high]: readonly [number, number], marginUs: number): boolean {
  return low > -marginUs && high < marginUs;
}

function statementOf(control: Omit<Control, "statement">, marginUs: number, doseMs: number): string {
  const { kind, arm, pairs, medianUs, lowUs, highUs, passed } = control;
  const title = kind === "same" ? `A second ${arm} must come out equal` : `${arm} with ${doseMs} ms added must come out slower`;
  if (medianUs === null || lowUs === null || highUs === null) return `${title}: not decided, only ${pairs} pairs of requests.`;
  const ms = (us: number) => `${(us / US_PER_MS).toFixed(3)} ms`;
  const found = `median difference ${ms(medianUs)}, 95 % interval ${ms(lowUs)} to ${ms(highUs)}, ${pairs} pairs`;
  return `${title} (margin ${ms(marginUs)}): ${passed ? "yes" : "no"}, ${found}.`;
}

interface BlockDifferences {
  readonly block: number;
  readonly values: readonly number[];
}

function blockOf({ block, values }: BlockDifferences): Control["blocks"][number] {
  return { block, pairs: values.length, medianUs: values.length === 0 ? null : median(values) };
}

/** The differences of the same requests in the same block, control minus arm, in microseconds. */
function pairedDifferences(
  { settings }: Plan,
  events: readonly RunEvents[],
  { condition, arm, control }: { readonly condition: string; readonly arm: string; readonly control: string },
): readonly BlockDifferences[] {
  const under = events.filter(({ planned, ended }) => planned.condition === condition && ended?.status === "complete");
  return under
    .filter(({ planned }) => planned.arm === control)
    .map((controlRun) => {
      const twin = under.find(({ planned }) => planned.arm === arm && planned.block === controlRun.planned.block);
      const base = latencies(twin, settings.messageTimeoutMs);
      const values = [...latencies(controlRun, settings.messageTimeoutMs)].flatMap(([seq, value]) => {
        const other = base.get(seq);
        return other === undefined ? [] : [value - other];
      });
      return { block: controlRun.planned.block, values };
    });
}

function latencies(run: RunEvents | undefined, timeoutMs: number): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const faultNs = Math.min(...(run?.faults ?? []).map(({ ns }) => ns));
  for (const request of run?.requests ?? []) {
    const latency = request.phase === "measure" && request.stamps.done < faultNs ? latencyUs(request, timeoutMs) : undefined;
    if (latency !== undefined) found.set(request.seq, latency);
  }
  return found;
}
