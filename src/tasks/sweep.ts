import { AgentError } from "../envelope/index.js";
import { openTurn } from "./open-turn.js";
import { cursorExpired } from "./refusals.js";
import { Run } from "./run.js";
import type { Running, RuntimeAgent, RuntimeContext } from "./runtime-context.js";
import { leaseOf } from "./start-task.js";
import type { TakenOver } from "./store.js";
import { failedEvent, statusEvent } from "./turn-events.js";

/** Keeps what is held here. */
export async function renewAll(place: RuntimeContext): Promise<void> {
  const runs = [...place.runs.values()];
  if (runs.length > 0) await renew(place, runs);
}

/** Ends or restarts what nobody holds any more, until nothing of the kind is left. Who shuts down leaves it to others. */
export async function settleAllLost(place: RuntimeContext): Promise<void> {
  const most = place.limits.takeOversAtOnce;
  for (let found = most; found === most && !place.closing; ) {
    const lost = await place.store.takeOver(leaseOf(place), most);
    // One that cannot be settled keeps nobody waiting; its lease runs out once more, and then it is tried again.
    await Promise.allSettled(lost.map((task) => settleLost(place, task)));
    found = lost.length;
  }
}

/** Somebody asked another process to cancel a task that runs here; the store says whether that is so. */
export async function heedCancel(place: RuntimeContext, taskId: string): Promise<void> {
  const run = place.runs.get(taskId);
  if (run !== undefined) await renew(place, [run]);
}

async function renew(place: RuntimeContext, runs: readonly Running[]): Promise<void> {
  const renewed = await place.store.renew(runs, place.limits.leaseMs);
  for (const [index, run] of runs.entries()) {
    const answer = renewed[index];
    if (answer === undefined) continue;
    if (!answer.ok) run.abandon(cursorExpired());
    else if (answer.cancelRequested) void run.stop("canceled", new AgentError("cancelled", "the task was canceled"));
  }
}

/** A run that lost its holder: canceled if that was asked for, started again if the agent allows it, else failed. */
async function settleLost(place: RuntimeContext, lost: TakenOver): Promise<void> {
  // Our own run was too late to renew and is fenced off now.
  place.runs.get(lost.taskId)?.abandon(cursorExpired());
  const agent = place.agents.get(lost.agent);
  if (!lost.cancelRequested && agent?.restartable === true) return restart(place, lost, agent);
  const { taskId, epoch, seq } = lost;
  const talk = { agent: lost.agent, heard: lost.message, sessionId: lost.contextId, taskId };
  const event = lost.cancelRequested
    ? statusEvent(talk, "canceled", place.ids)
    : failedEvent(talk, place.ids, { code: "lost_place", message: "the process that ran the task is gone" });
  const appended = await place.store.append(taskId, { epoch, after: seq, events: [event], state: undefined, unlessHeard: false });
  if (appended.ok && appended.toTell) place.push?.nudge();
}

/** Where there is no room for it, it waits until its lease has run out once more: for another process, or for room here. */
async function restart(place: RuntimeContext, lost: TakenOver, agent: RuntimeAgent): Promise<void> {
  const { taskId, owner, agent: agentName, epoch, seq, message } = lost;
  const task = (await place.store.snapshot(taskId, owner))?.task;
  if (task === undefined || place.closing) return;
  place.enter(owner);
  const turn = openTurn(place, { caller: owner, owner, restarted: true }, message, { task, turn: lost.turn, state: lost.state });
  new Run(place, { task, owner, caller: owner, agentName, agent, epoch, seq, message }, turn).begin();
}
