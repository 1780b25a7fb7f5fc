import { AgentError, type AgentEvent, type Call, type LossSink, type Maybe, startCall } from "../envelope/index.js";
import { deadline } from "../policies/index.js";
import type { AdoptParts } from "./adopt-parts.js";
import { readState } from "./adopted-state.js";
import { asOurs, one, traceOf } from "./onward.js";

/** How long ending something over there may take. A peer that hangs has not ended it, and that is said. */
const END_MS = 10_000;

/** Stops the task where it really runs. */
export function cancelAdopted(parts: AdoptParts): (saved: unknown, call: Call) => Promise<void> {
  const { upstream, credentials, lose, clock } = parts;
  const patient = deadline(END_MS, clock)((operation, call) => upstream.handler(operation, call));
  return async (saved, call) => {
    const state = readState(saved as Maybe<never>); // whatever it is, it is read with care
    if (state === undefined) return;
    const onward = onwardOf(call, lose);
    const allowed = credentials?.open(state.credential, onward) ?? onward;
    try {
      await one(patient({ kind: "task.cancel", taskId: state.taskId }, allowed));
    } catch (thrown) {
      // A wire without a word for it: the work goes on over there, and nobody here waits for it any more.
      if (AgentError.from(thrown).code !== "unsupported_method") throw asOurs(AgentError.from(thrown), credentials !== undefined);
    }
  };
}

/** Ends a conversation there, under the name it has there. A wire without such an end needs none. */
export async function closeAdopted(
  { upstream, veil, credentials, lose, clock }: AdoptParts,
  sessionId: string,
  call: Call,
): Promise<AgentEvent> {
  const onward = onwardOf(call, lose);
  const theirs = veil(call.caller.owner, "session", sessionId);
  try {
    const patient = deadline(END_MS, clock)((operation, ending) => upstream.handler(operation, ending));
    return await one(patient({ kind: "session.close", sessionId: theirs }, onward));
  } catch (thrown) {
    if (AgentError.from(thrown).code !== "unsupported_method") throw asOurs(AgentError.from(thrown), credentials !== undefined);
    return { kind: "done" };
  }
}

/** Without the caller's cancel: who asks for an end and hangs up still wants it. */
function onwardOf(call: Call, lose: LossSink): Call {
  const { caller, floor, credential, hops } = call;
  return startCall({ caller, floor, credential, hops: hops + 1, parameters: traceOf(call), reportLoss: lose });
}
