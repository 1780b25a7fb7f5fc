import { AgentError } from "../envelope/index.js";
import type { Running } from "./active-runs.js";
import { openTurn } from "./open-turn.js";
import { leaseLost } from "./refusals.js";
import { Run } from "./run.js";
import type { RuntimeAgent, RuntimeContext } from "./runtime-context.js";
import { leaseOf } from "./start-task.js";
import type { TakenOver } from "./store.js";
import { failedEvent, statusEvent } from "./turn-events.js";

/** Renews all leases of this runtime. */
export async function renewAll(context: RuntimeContext): Promise<void> {
  const runs = context.runs.all;
  if (runs.length > 0) await renew(context, runs);
}

/** Ends or restarts tasks whose lease expired, until none is left or the runtime closes. */
export async function settleAllLost(context: RuntimeContext): Promise<void> {
  const most = context.limits.takeOversAtOnce;
  for (let found = most; found === most && !context.closing; ) {
    const lost = await context.store.takeOver(leaseOf(context), most);
    // A task that cannot be settled does not block the others; it is retried after its lease expires again.
    await Promise.allSettled(lost.map((task) => settleLost(context, task)));
    found = lost.length;
  }
}

/** Another process may have requested a cancel for a task that runs here; the renewal returns it. */
export async function checkCancel(context: RuntimeContext, taskId: string): Promise<void> {
  const run = context.runs.get(taskId);
  if (run !== undefined) await renew(context, [run]);
}

async function renew(context: RuntimeContext, runs: readonly Running[]): Promise<void> {
  const renewed = await context.store.renew(runs, context.limits.leaseMs);
  for (const [index, run] of runs.entries()) {
    const answer = renewed[index];
    if (answer === undefined) continue;
    if (!answer.ok) run.abandon(leaseLost());
    else if (answer.cancelRequested) void run.stop("canceled", new AgentError("cancelled", "the task was canceled"));
  }
}

/** A run that lost its holder: canceled if requested, restarted if the agent is restartable, otherwise failed. */
async function settleLost(context: RuntimeContext, lost: TakenOver): Promise<void> {
  // Our own run renewed too late and is fenced off now.
  context.runs.get(lost.taskId)?.abandon(leaseLost());
  const agent = context.agents.get(lost.agent);
  if (!lost.cancelRequested && agent?.restartable === true) return restart(context, lost, agent);
  const { taskId, epoch, seq } = lost;
  const conversation = { agent: lost.agent, request: lost.message, sessionId: lost.contextId, taskId };
  const event = lost.cancelRequested
    ? statusEvent(conversation, "canceled", context.ids)
    : failedEvent(conversation, context.ids, { code: "lost_place", message: "the process that ran the task is gone" });
  const appended = await context.store.append(taskId, {
    epoch,
    after: seq,
    events: [event],
    state: undefined,
    unlessQueued: false,
  });
  if (appended.ok && appended.pushDue) context.push?.nudge();
}

/** Without capacity it waits until its lease expires again. */
async function restart(context: RuntimeContext, lost: TakenOver, agent: RuntimeAgent): Promise<void> {
  const { taskId, owner, agent: agentName, epoch, seq, message } = lost;
  const task = (await context.store.snapshot(taskId, owner))?.task;
  if (task === undefined || context.closing) return;
  context.enter(owner);
  const turn = openTurn(context, { caller: owner, owner, restarted: true }, message, {
    task,
    turn: lost.turn,
    state: lost.state,
  });
  new Run(context, { task, owner, caller: owner, agentName, agent, epoch, seq, message }, turn).begin();
}
