import type { RequestEvent } from "./event.js";
import { latencyUs } from "./latency.js";
import { mean, standardDeviation } from "./means.js";
import type { RunSummary } from "./result.js";
import type { RunEvents } from "./run-events.js";

/** What each agent of a run did, those that did nothing included. */
export function workersOf({ processes }: RunEvents, measured: readonly RequestEvent[], timeoutMs: number): RunSummary["workers"] {
  // Processes are ready in any order.
  const agents = [...new Set(processes.flatMap((process) => process.agents))].sort(byNumber.compare);
  return agents.map((agent) => {
    const own = measured.filter(({ to, outcome }) => to === agent && outcome === "answered");
    const times = own.flatMap((request) => latencyUs(request, timeoutMs) ?? []);
    return { agent, tasks: own.length, meanUs: mean(times), sdUs: standardDeviation(times), totalUs: sum(own.map(busyUs)) };
  });
}

const NS_PER_US = 1_000;
const byNumber = new Intl.Collator("en", { numeric: true });

/** The time for which a request kept its agent busy. */
function busyUs({ stamps }: RequestEvent): number {
  return (stamps.done - stamps.send) / NS_PER_US;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The sample variance of the tasks per agent; null with one agent. */
export function balanceVariance(workers: RunSummary["workers"]): number | null {
  const sd = standardDeviation(workers.map(({ tasks }) => tasks));
  return sd === null ? null : sd ** 2;
}
