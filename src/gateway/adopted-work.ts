import { AgentError, type Call, type Event, type LossSink, type Maybe, startCall } from "../envelope/index.js";
import type { AdoptParts } from "./adopt-parts.js";
import { readState } from "./adopted-state.js";
import { asOurs, one, traceOf } from "./onward.js";

/** Stops the task where it really runs. */
export function cancelAdopted({ upstream, credentials, lose }: AdoptParts): (saved: unknown, call: Call) => Promise<void> {
  return async (saved, call) => {
    const state = readState(saved as Maybe<never>); // whatever it is, it is read with care
    if (state === undefined) return;
    const onward = onwardOf(call, lose);
    const allowed = credentials?.open(state.credential, onward) ?? onward;
    try {
      await one(upstream.handler({ kind: "task.cancel", taskId: state.taskId }, allowed));
    } catch (thrown) {
      // A wire without a word for it: the work goes on over there, and nobody here waits for it any more.
      if (AgentError.from(thrown).code !== "unsupported_method") throw asOurs(AgentError.from(thrown), credentials !== undefined);
    }
  };
}

/** Ends a conversation there, under the name it has there. A wire without such an end needs none. */
export async function closeAdopted(
  { upstream, veil, credentials, lose }: AdoptParts,
  sessionId: string,
  call: Call,
): Promise<Event> {
  const onward = onwardOf(call, lose);
  const theirs = veil(call.caller.owner, "session", sessionId);
  try {
    return await one(upstream.handler({ kind: "session.close", sessionId: theirs }, onward));
  } catch (thrown) {
    if (AgentError.from(thrown).code !== "unsupported_method") throw asOurs(AgentError.from(thrown), credentials !== undefined);
    return { kind: "done" };
  }
}

/** Without the caller's cancel: who asks for an end and hangs up still wants it. */
function onwardOf(call: Call, lose: LossSink): Call {
  const { caller, floor, credential, hops } = call;
  return startCall({ caller, floor, credential, hops: hops + 1, parameters: traceOf(call), lose });
}
