import { AgentError, type Maybe } from "../envelope/index.js";
import { openTurn } from "./open-turn.js";
import { Run } from "./run.js";
import { leaseOf } from "./start-task.js";
import type { TakenOver } from "./store.js";
import { failedEvent, statusEvent } from "./turn-events.js";
import type { Running, ServedAgent, Workplace } from "./workplace.js";

/** Keeps what is held here, and ends or restarts what nobody holds any more. One timer for all tasks. */
export async function sweep(place: Workplace): Promise<void> {
  await renewAll(place);
  const lost = await place.store.takeOver(leaseOf(place), place.limits.takeOversPerSweep);
  for (const task of lost) await settleLost(place, task);
}

/** Somebody asked another process to cancel a task that runs here; the store says whether that is so. */
export async function heedCancel(place: Workplace, taskId: string): Promise<void> {
  const run = place.runs.get(taskId);
  if (run !== undefined) await renew(place, [run]);
}

async function renewAll(place: Workplace): Promise<void> {
  const runs = [...place.runs.values()];
  if (runs.length > 0) await renew(place, runs);
}

async function renew(place: Workplace, runs: readonly Running[]): Promise<void> {
  const renewed = await place.store.renew(runs, place.limits.leaseMs);
  for (const [index, run] of runs.entries()) {
    const answer = renewed[index];
    if (answer === undefined) continue;
    if (!answer.ok) run.abandon(new AgentError("lost_place", "the task is no longer held by this process"));
    else if (answer.cancelRequested) void run.stop("canceled", new AgentError("cancelled", "the task was canceled"));
  }
}

/** A run that lost its holder: canceled if that was asked for, started again if the agent allows it, else failed. */
async function settleLost(place: Workplace, lost: TakenOver): Promise<void> {
  // Our own run was too late to renew and is fenced off now.
  place.runs.get(lost.taskId)?.abandon(new AgentError("lost_place", "the task is no longer held by this process"));
  const agent = place.agents.get(lost.agent);
  const restart = !lost.cancelRequested && !place.closing && agent?.restartable === true;
  if (restart && (await restarted(place, lost, agent)) !== undefined) return;
  const { taskId, epoch, seq, owner } = lost;
  const task = (await place.store.snapshot(taskId, owner))?.task;
  const heard = task?.history.findLast(({ role }) => role === "user");
  if (task === undefined || heard === undefined) return;
  const talk = { agent: lost.agent, heard, sessionId: lost.contextId, taskId };
  const event = lost.cancelRequested
    ? statusEvent(talk, "canceled", place.ids)
    : failedEvent(talk, place.ids, { code: "lost_place", message: "the process that ran the task is gone" });
  const appended = await place.store.append(taskId, { epoch, after: seq, events: [event], state: undefined, unlessHeard: false });
  if (appended.ok && appended.toTell) place.push?.nudge();
}

/** Undefined when there is no room for it here. */
async function restarted(place: Workplace, lost: TakenOver, agent: ServedAgent): Promise<Maybe<Run>> {
  const { taskId, owner, agent: agentName, epoch, seq } = lost;
  const task = (await place.store.snapshot(taskId, owner))?.task;
  const message = task?.history.findLast(({ role }) => role === "user");
  if (task === undefined || message === undefined) return undefined;
  try {
    place.enter(owner);
  } catch {
    return undefined;
  }
  const turn = openTurn(place, { caller: owner, owner }, message, { task, turn: lost.turn, state: lost.state });
  const run = new Run(place, { task, owner, caller: owner, agentName, agent, epoch, seq, message }, turn);
  run.begin();
  return run;
}
