import type { RequestEvent } from "./event.js";
import type { Condition, Settings } from "./plan.js";
import type { RunSummary } from "./result.js";
import type { RunEvents } from "./run-events.js";

const NS_PER_US = 1_000;
/** The coordinator is the caller of the run. */
const COORDINATOR = "caller";

/** What the death of the coordinator did. */
export function coordinatorOf({ faults }: RunEvents, measured: readonly RequestEvent[]): RunSummary["coordinator"] {
  const own = faults.filter(({ target }) => target === COORDINATOR);
  const killed = own.find(({ step }) => step === "begin");
  const back = own.find(({ step }) => step === "end");
  if (killed === undefined || back === undefined) return null;
  const backNs = back.verifiedNs ?? back.ns;
  const answers = measured.filter(({ outcome }) => outcome === "answered").map(({ stamps }) => stamps.done);
  const later = answers.filter((done) => done > backNs);
  return {
    answeredBefore: answers.filter((done) => done <= killed.ns).length,
    downUs: (backNs - killed.ns) / NS_PER_US,
    firstAnswerUs: later.length === 0 ? null : (Math.min(...later) - backNs) / NS_PER_US,
    sentAgain: measured.filter(({ stamps }) => stamps.intended < killed.ns && stamps.send > killed.ns).length,
  };
}

/** Every entry of a queue whose coordinator was killed must be answered, and once. */
export function onceProblems({ requests }: RunEvents, condition: Condition, settings: Settings): readonly string[] {
  if (condition.coordinator === undefined) return [];
  const answered = requests.filter(({ phase, outcome }) => phase === "measure" && outcome === "answered").map(({ seq }) => seq);
  const once = new Set(answered);
  const missing = settings.requests - once.size;
  return [
    ...(missing > 0 ? [`${missing} of ${settings.requests} entries have no answer`] : []),
    ...(answered.length > once.size ? [`${answered.length - once.size} entries have more than one answer`] : []),
  ];
}
