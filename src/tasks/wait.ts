import { AgentError, type Call } from "../envelope/index.js";
import type { RuntimeContext } from "./runtime-context.js";

/** Ends with `work`, or before it when the caller hangs up or its deadline passes. The work goes on either way. */
export function waitFor<T>(place: RuntimeContext, work: Promise<T>, call: Call): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = onGivingUp(place, call, reject);
    work.then(
      (value) => {
        release();
        resolve(value);
      },
      (thrown) => {
        release();
        reject(thrown);
      },
    );
  });
}

/** Calls `giveUp` when nobody waits for the answer any longer: deadlines race, they do not wait to be heard. */
export function onGivingUp(place: RuntimeContext, call: Call, giveUp: (reason: AgentError) => void): () => void {
  const offCancel = call.cancel.onCancel(giveUp);
  const { deadline } = call;
  if (deadline === undefined) return offCancel;
  const offDeadline = place.timers.after(deadline - place.ids.now(), () => giveUp(waitedTooLong()));
  return () => {
    offCancel();
    offDeadline();
  };
}

function waitedTooLong(): AgentError {
  return new AgentError("deadline", "the answer did not come before the call's deadline");
}
