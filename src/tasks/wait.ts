import { AgentError, type Call } from "../envelope/index.js";
import type { RuntimeContext } from "./runtime-context.js";

/** Calls `abort` when the call is cancelled or its deadline passes. */
export function onCallAborted(context: RuntimeContext, call: Call, abort: (reason: AgentError) => void): () => void {
  const offCancel = call.cancel.onCancel(abort);
  const { deadline } = call;
  if (deadline === undefined) return offCancel;
  const offDeadline = context.timers.after(deadline - context.ids.now(), () => abort(deadlinePassed()));
  return () => {
    offCancel();
    offDeadline();
  };
}

function deadlinePassed(): AgentError {
  return new AgentError("deadline", "the answer did not come before the call's deadline");
}
