import type { RequestEvent } from "./event.js";
import type { Plan } from "./plan.js";
import type { BenchResult, Check, RunSummary } from "./result.js";
import type { RunEvents } from "./run-events.js";

/** Members of a configuration that belong to the protocol under test and may differ between arms. */
export const PLUG_IN = "plug-in.";
/** Differences that a statement names. */
const MAX_NAMED = 5;

export function checksOf(plan: Plan, events: readonly RunEvents[], runs: readonly RunSummary[]): BenchResult["checks"] {
  return { witness: witnessOf(runs), fairness: fairnessOf(events), replay: replayOf(plan, events) };
}

function witnessOf(runs: readonly RunSummary[]): Check {
  const invalid = runs.filter((run) => run.invalid.length > 0);
  const [first] = invalid;
  if (first === undefined)
    return {
      passed: true,
      statement: `All ${runs.length} runs went over the wire: bytes on every edge, every answer from an agent.`,
    };
  return {
    passed: false,
    statement: `${invalid.length} of ${runs.length} runs are invalid; ${first.run}: ${first.invalid.join("; ")}.`,
  };
}

/** The configuration of each process, outside the protocol, must be the same in all arms. */
function fairnessOf(events: readonly RunEvents[]): Check {
  const first = new Map<string, { readonly value: unknown; readonly arm: string }>();
  const differences = new Set<string>();
  const members = new Set<string>();
  const expected = new Map<string, { readonly keys: string; readonly arm: string }>();
  for (const { planned, configurations } of events)
    for (const { process, values } of configurations) {
      const shared = Object.entries(values).filter(([key]) => !key.startsWith(PLUG_IN));
      const keys = shared
        .map(([key]) => key)
        .sort()
        .join(", ");
      // Conditions may differ in load and number of agents; the arms under one may not.
      const under = `${planned.condition} ${process}`;
      const known = expected.get(under) ?? { keys, arm: planned.arm };
      expected.set(under, known);
      if (known.keys !== keys) differences.add(`${process} of ${planned.arm} reports ${keys}, of ${known.arm} ${known.keys}`);
      for (const [key, value] of shared) {
        const member = `${process} ${key}`;
        members.add(member);
        const before = first.get(`${planned.condition} ${member}`) ?? { value, arm: planned.arm };
        first.set(`${planned.condition} ${member}`, before);
        if (before.value !== value)
          differences.add(`${member} is ${String(value)} for ${planned.arm}, and ${String(before.value)} for ${before.arm}`);
      }
    }
  if (members.size === 0) return { passed: false, statement: "No process reported its configuration." };
  if (differences.size > 0) return { passed: false, statement: `The arms were not configured alike: ${named(differences)}.` };
  return { passed: true, statement: `All arms agree in ${members.size} settings.` };
}

/** The same request of a block must carry the same bytes and get the same answer in every arm. */
function replayOf({ settings, conditions }: Plan, events: readonly RunEvents[]): Check {
  const first = new Map<string, { readonly event: RequestEvent; readonly arm: string }>();
  const differences = new Set<string>();
  const faulty = new Set(conditions.filter(({ faults }) => faults.length > 0).map(({ id }) => id));
  let compared = 0;
  for (const { planned, requests, services } of events) {
    const received = new Map(services.map(({ seq, payloadHash }) => [seq, payloadHash]));
    for (const event of requests) {
      if (event.outcome !== "answered") continue;
      if (received.has(event.seq) && received.get(event.seq) !== event.payloadHash)
        differences.add(`request ${event.seq} of ${planned.run} arrived with another payload`);
      const key = `${planned.block} ${planned.condition} ${event.seq}`;
      const before = first.get(key);
      if (before === undefined) {
        first.set(key, { event, arm: planned.arm });
        continue;
      }
      compared++;
      const where = `request ${event.seq} of block ${planned.block}, ${planned.arm} and ${before.arm}`;
      if (before.event.payloadHash !== event.payloadHash) differences.add(`${where}: payloads differ`);
      // A live model may answer otherwise each time, and under faults not every agent is there to be asked.
      if (settings.model !== "live" && !faulty.has(planned.condition) && before.event.answerHash !== event.answerHash)
        differences.add(`${where}: answers differ`);
    }
  }
  if (differences.size > 0) return { passed: false, statement: `Not the same work in all arms: ${named(differences)}.` };
  return { passed: true, statement: `${compared} requests carried the same payload and answer in different arms.` };
}

function named(differences: ReadonlySet<string>): string {
  const all = [...differences];
  const more = all.length - MAX_NAMED;
  return `${all.slice(0, MAX_NAMED).join("; ")}${more > 0 ? `; ${more} more` : ""}`;
}
