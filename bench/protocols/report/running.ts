import { escaped, pageHtml, tableHtml } from "../../harness/html.js";
import type { Plan, PlannedRun, RunSummary } from "../result/index.js";
import { STYLE } from "./style.js";
import { RUN_HEAD, runCells } from "./tables.js";

/** How far a benchmark is, between two runs. */
export interface Running {
  readonly plan: Plan;
  readonly done: number;
  readonly current: PlannedRun;
  /** Undefined before the first run has ended. */
  readonly remainingMs: number | undefined;
  /** The runs that have ended, in their order. */
  readonly ended: readonly RunSummary[];
}

/** The page loads itself again: it needs no server and no script, and the report takes its place at the end. */
export const REFRESH_SECONDS = 5;
/** The page is written between runs: a table of all of them would grow without need. */
const RUNS_SHOWN = 30;
const PROGRESS = "progress { width: 100%; height: 1.2rem; accent-color: var(--accent); }";

/** The page while a benchmark runs. It stands where the report will be. */
export function runningHtml({ plan, done, current, remainingMs, ended }: Running): string {
  const total = plan.runs.length;
  const left = remainingMs === undefined ? "the time left is known after the first run" : `about ${minutes(remainingMs)} left`;
  const failed = ended.filter(({ status, invalid }) => status !== "complete" || invalid.length > 0).length;
  const table = {
    title: "The latest runs",
    head: ["run", ...RUN_HEAD],
    rows: ended
      .slice(-RUNS_SHOWN)
      .reverse()
      .map((each) => [each.run, ...runCells(each)]),
    note: "Single runs, without intervals: nothing is concluded before the end.",
  };
  const body = `<header><h1>${escaped(plan.scenario)} is running</h1>
<p class="lead">${done} of ${total} runs are done, ${escaped(left)}. Now: ${escaped(current.arm)}, ${escaped(current.condition)}.${failed === 0 ? "" : ` ${failed} runs failed or are invalid.`}</p>
</header>
<main>
<p><progress max="${total}" value="${done}" aria-label="Runs done">${done} of ${total}</progress></p>
<article class="panel numbers"><div class="scroll" tabindex="0" role="group" aria-label="The latest runs">${tableHtml(table)}</div></article>
</main>
<footer><p>This page loads itself again every ${REFRESH_SECONDS} seconds; the report takes its place at the end.</p></footer>`;
  return pageHtml({
    title: `${done} of ${total} · ${plan.scenario}`,
    style: STYLE + PROGRESS,
    body,
    refreshSeconds: REFRESH_SECONDS,
  });
}

function minutes(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
