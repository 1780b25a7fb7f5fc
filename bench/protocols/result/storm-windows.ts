import { median } from "../../harness/statistics.js";
import { mean } from "./means.js";
import type { Window } from "./storm-schema.js";

const NS_PER_S = 1_000_000_000;
const NS_PER_US = 1_000;
/** E.2.1 of the paper. */
const PAPER_S = 60;
/** Its appendix D.4. */
const APPENDIX_S = 120;

/** A request that ended: answered, right or not, or given up. */
export interface Ended {
  /** When it was to be asked. */
  readonly askedNs: number;
  /** When it ended. */
  readonly ns: number;
  readonly right: boolean;
  /** Undefined for one without an answer. */
  readonly latencyUs: number | undefined;
}

/** When a cycle began and was over, and what is around it. */
export interface CycleTimes {
  /** The first fault. */
  readonly faultNs: number;
  /** The last recovery; undefined if there was none. */
  readonly recoveredNs: number | undefined;
  /** The first fault of the next cycle. */
  readonly nextNs: number | undefined;
  readonly beginNs: number;
  readonly endNs: number;
}

export interface CycleWindows {
  readonly during: Window;
  readonly paper: { readonly pre: Window; readonly post: Window };
  readonly appendix: { readonly pre: Window; readonly post: Window };
}

/**
 * The windows of one cycle. A request belongs to the window before or after if it was asked and ended in it; one that was under way at the
 * fault or at the recovery belongs to the time between: it met agents that were gone, whenever its answer arrived. Windows after a recovery
 * that did not happen are empty.
 */
export function windowsOf(ended: readonly Ended[], { faultNs, recoveredNs, nextNs, beginNs, endNs }: CycleTimes): CycleWindows {
  const last = Math.min(nextNs ?? endNs, endNs);
  const before = (seconds: number): Window => {
    const from = Math.max(beginNs, faultNs - seconds * NS_PER_S);
    return windowOf(ended, { from, to: faultNs, wantedS: seconds, closed: "from" });
  };
  const after = (seconds: number): Window => {
    if (recoveredNs === undefined) return windowOf([], { from: last, to: last, wantedS: seconds, closed: "to" });
    const to = Math.min(last, recoveredNs + seconds * NS_PER_S);
    return windowOf(ended, { from: recoveredNs, to: Math.max(recoveredNs, to), wantedS: seconds, closed: "to" });
  };
  const until = recoveredNs ?? last;
  return {
    during: windowOf(ended, { from: faultNs, to: until, wantedS: (until - faultNs) / NS_PER_S, closed: "under way" }),
    paper: { pre: before(PAPER_S), post: after(PAPER_S) },
    // Until the next fault, however long that is.
    appendix: {
      pre: before(APPENDIX_S),
      post: { ...after((last - (recoveredNs ?? last)) / NS_PER_S), truncated: nextNs === undefined },
    },
  };
}

interface Bounds {
  readonly from: number;
  readonly to: number;
  readonly wantedS: number;
  /** The end that belongs to it; `under way`: both, and every request that was under way in between. */
  readonly closed: "from" | "to" | "under way";
}

const IS_INSIDE: Readonly<Record<Bounds["closed"], (each: Ended, from: number, to: number) => boolean>> = {
  from: ({ askedNs, ns }, from, to) => askedNs >= from && ns < to,
  to: ({ askedNs, ns }, from, to) => askedNs > from && ns <= to,
  "under way": ({ askedNs, ns }, from, to) => ns >= from && askedNs <= to,
};

function windowOf(ended: readonly Ended[], { from, to, wantedS, closed }: Bounds): Window {
  const inside = ended.filter((each) => IS_INSIDE[closed](each, from, to));
  const latencies = inside.flatMap(({ latencyUs }) => (latencyUs === undefined ? [] : latencyUs));
  const seconds = (to - from) / NS_PER_S;
  return {
    seconds,
    // Half a microsecond is rounding.
    truncated: seconds < wantedS - 1 / NS_PER_US / NS_PER_US,
    ended: inside.length,
    right: inside.filter(({ right }) => right).length,
    meanUs: mean(latencies),
    medianUs: latencies.length === 0 ? null : median(latencies),
  };
}

/** The share of right answers after over that before. Null where there was none before, or nothing ended after. */
export function retentionOf(pre: Window, post: Window): number | null {
  if (pre.right === 0 || post.ended === 0) return null;
  return post.right / post.ended / (pre.right / pre.ended);
}

/** E.2.1 as it is written: counts. Null where there was none before. */
export function countRetentionOf(pre: Window, post: Window): number | null {
  return pre.right === 0 ? null : post.right / pre.right;
}
