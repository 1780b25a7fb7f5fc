import type { Table } from "../../harness/table.js";
import { short } from "../../harness/table.js";
import { mean } from "../result/means.js";
import type { Cycle, Victim, Window } from "../result/storm-schema.js";
import { PAPER_PROBLEMS, PAPER_ROWS } from "./paper-storm.js";
import type { ArmView, ConditionView } from "./view.js";

const US_PER_MS = 1_000;
const US_PER_S = 1_000_000;

const cyclesOf = ({ runs }: ArmView): readonly Cycle[] => runs.flatMap(({ storm }) => storm?.cycles ?? []);
const victimsOf = (view: ArmView): readonly Victim[] => cyclesOf(view).flatMap(({ victims }) => victims);

/** The mean of what there is, in a unit. */
export function average(values: readonly (number | null | undefined)[], per = 1): string {
  const found = mean(values.filter((value) => value !== null && value !== undefined));
  return short(found === null ? undefined : found / per);
}

function sharesOf(windows: readonly Window[]): readonly number[] {
  return windows.flatMap(({ right, ended }) => (ended === 0 ? [] : (100 * right) / ended));
}

/** The paper's table 3b, and its rows below ours. */
export function recoveryTable({ arms }: ConditionView): Table {
  return {
    title: "Answers, latency and recovery, mean over storms",
    head: [
      "arm",
      "right before (%)",
      "right after (%)",
      "drop (points)",
      "retention (%)",
      "by count (%)",
      "median before (s)",
      "median after (s)",
      "mean before (s)",
      "mean after (s)",
      "recovery (s)",
      "recovered",
    ],
    rows: [
      ...arms.map((view) => {
        const cycles = cyclesOf(view);
        const [pre, post] = [cycles.map(({ paper }) => paper.pre), cycles.map(({ paper }) => paper.post)];
        const drops = cycles.flatMap(({ paper }) => {
          const [before, after] = [sharesOf([paper.pre])[0], sharesOf([paper.post])[0]];
          return before === undefined || after === undefined ? [] : before - after;
        });
        return [
          view.arm.id,
          average(sharesOf(pre)),
          average(sharesOf(post)),
          average(drops),
          average(cycles.map(({ retention }) => retention && retention * 100)),
          average(cycles.map(({ countRetention }) => countRetention && countRetention * 100)),
          average(
            pre.map(({ medianUs }) => medianUs),
            US_PER_S,
          ),
          average(
            post.map(({ medianUs }) => medianUs),
            US_PER_S,
          ),
          average(
            pre.map(({ meanUs }) => meanUs),
            US_PER_S,
          ),
          average(
            post.map(({ meanUs }) => meanUs),
            US_PER_S,
          ),
          average(
            cycles.map(({ recoveryUs }) => recoveryUs),
            US_PER_S,
          ),
          `${cycles.filter(({ recoveryUs }) => recoveryUs !== null).length} of ${cycles.length}`,
        ];
      }),
      ...PAPER_ROWS.map(({ name, prePercent, postPercent, preLatencyS, postLatencyS, recoveryS }) => [
        `paper: ${name}`,
        String(prePercent),
        String(postPercent),
        short(prePercent - postPercent),
        short((100 * postPercent) / prePercent),
        "–",
        "–",
        "–",
        String(preLatencyS),
        String(postLatencyS),
        String(recoveryS),
        "–",
      ]),
    ],
    note:
      "Windows of the paper's E.2.1: 60 s before the fault and 60 s after the last recovery, cut by the begin and the end of the run and by the next storm. " +
      "Retention is the share of right answers after over that before; by count it is what E.2.1 writes, and depends on the lengths of cut windows. " +
      "The paper's rows cannot be compared with ours: the next tables say why.",
  };
}

/** Where the time of a recovery goes. */
export function splitTable({ arms }: ConditionView): Table {
  return {
    title: "The parts of a recovery in milliseconds, mean over victims",
    head: [
      "arm",
      "noticed",
      "down",
      "start",
      "re-join",
      "first work",
      "listening to first work",
      "largest",
      "state back",
      "whole",
      "resolution",
      "noticed by",
    ],
    rows: arms.map((view) => {
      const victims = victimsOf(view);
      const ms = (of: (victim: Victim) => number | null | undefined) => average(victims.map(of), US_PER_MS);
      const useful = victims.flatMap(({ usefulUs }) => (usefulUs === null ? [] : usefulUs / US_PER_MS));
      return [
        view.arm.id,
        ms(({ detections }) => (detections.length === 0 ? null : Math.min(...detections.map(({ us }) => us)))),
        ms(({ downUs }) => downUs),
        ms(({ startUs }) => startUs),
        ms(({ rejoinUs }) => rejoinUs),
        ms(({ workUs }) => workUs),
        ms(({ usefulUs }) => usefulUs),
        short(useful.length === 0 ? undefined : Math.max(...useful)),
        ms(({ restored }) => restored?.us),
        ms(({ recoveryUs }) => recoveryUs),
        average(
          cyclesOf(view).map(({ resolutionUs }) => resolutionUs),
          US_PER_MS,
        ),
        noticedBy(victims),
      ];
    }),
    note:
      "Down, start, re-join and first work follow each other and add up to the whole. Down is the delay before the restart, the same for all, with the time to verify the death. " +
      "Start is that of the process, until its listener is open. Noticed: until the first peer skips the victim. State back is part of start (journal) or of re-join (neighbours). " +
      "Resolution: the mean time between probes of a victim that comes back, or between right answers through one that is not probed; below it recoveries cannot be told apart.",
  };
}

function noticedBy(victims: readonly Victim[]): string {
  const counts = new Map<string, number>();
  for (const { detections } of victims) for (const { seenBy } of detections) counts.set(seenBy, (counts.get(seenBy) ?? 0) + 1);
  return [...counts].map(([seenBy, count]) => `${seenBy} ${count}`).join(", ") || "–";
}

/** What got lost, and what coming back cost. */
export function lossTable({ arms }: ConditionView): Table {
  return {
    title: "Lost and repeated questions, and what recovery cost",
    head: [
      "arm",
      "questions",
      "lost",
      "doubled",
      "discarded",
      "asked again",
      "answered again",
      "missed answers",
      "right of all (%)",
      "local share (%)",
      "reconnect bytes",
      "connections",
      "state bytes",
      "fragments back",
      "retention D.4 (%)",
    ],
    rows: arms.map((view) => {
      const storms = view.runs.flatMap(({ storm }) => storm ?? []);
      const victims = victimsOf(view);
      const sum = (of: (storm: (typeof storms)[number]) => number) => String(storms.reduce((total, each) => total + of(each), 0));
      return [
        view.arm.id,
        String(view.runs.reduce((total, { requests }) => total + requests.sent, 0)),
        sum(({ lost }) => lost),
        sum(({ doubled }) => doubled),
        sum(({ discarded }) => discarded),
        sum(({ repeated }) => repeated),
        storms.some(({ executedAgain }) => executedAgain === undefined) ? "–" : sum(({ executedAgain = 0 }) => executedAgain),
        average(cyclesOf(view).map(({ missed }) => missed)),
        average(storms.map(({ rightShare }) => rightShare && rightShare * 100)),
        average(storms.map(({ localShare }) => localShare && localShare * 100)),
        average(victims.map(({ reconnect }) => reconnect && reconnect.sent + reconnect.received)),
        average(victims.map(({ reconnect }) => reconnect?.connections)),
        average(victims.map(({ restored }) => restored?.bytes)),
        average(victims.map(({ restored }) => restored?.fragments)),
        average(cyclesOf(view).map(({ appendixRetention }) => appendixRetention && appendixRetention * 100)),
      ];
    }),
    note:
      "Lost: without any answer. Doubled: counted twice. Discarded: arrived again, and not counted. Asked again: arrivals of a question at agents after the first, because one was gone before its answer arrived; answered again: those that an " +
      "agent worked through to an answer once more, by idempotency key. " +
      "Missed: right answers that the rate before promised for the time of the recovery. Local share: what a ring without messages would find. " +
      "Reconnect bytes: both directions of the victim's own connections from its restart until the first peer accepted it.",
  };
}

export function problemTable(): Table {
  return {
    title: "Why the paper's figures cannot be compared",
    head: ["the paper's figure", "what it is", "here"],
    rows: PAPER_PROBLEMS.map((row) => [...row]),
  };
}
