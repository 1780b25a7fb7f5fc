import { AgentError, type AgentEvent, type Call, type Handler, type LossSink, type Maybe, startCall } from "../envelope/index.js";
import { deadline } from "../policies/index.js";
import type { AdoptContext } from "./adopt-context.js";
import { readState } from "./adopted-state.js";
import { asGatewayError, one, traceOf } from "./upstream-calls.js";

/** The time limit of cancelling at the upstream; a timeout is reported as a failure. */
const END_MS = 10_000;

/** Cancels the task at the upstream. */
export function cancelAdopted(context: AdoptContext): (saved: unknown, call: Call) => Promise<void> {
  const { credentials, reportLoss } = context;
  const handler = limitedHandler(context);
  return async (saved, call) => {
    const state = readState(saved as Maybe<never>); // validated by readState
    if (state === undefined) return;
    const outgoing = upstreamCall(call, reportLoss);
    const allowed = credentials?.open(state.credential, outgoing) ?? outgoing;
    try {
      await one(handler({ kind: "task.cancel", taskId: state.taskId }, allowed));
    } catch (thrown) {
      // A protocol without cancel: the upstream continues, and its result is discarded.
      if (AgentError.from(thrown).code !== "unsupported_method")
        throw asGatewayError(AgentError.from(thrown), credentials !== undefined);
    }
  };
}

/** Closes a session at the upstream, under its upstream name. A protocol without session close needs none. */
export async function closeAdoptedSession(context: AdoptContext, sessionId: string, call: Call): Promise<AgentEvent> {
  const { pseudonymize, credentials, reportLoss } = context;
  const outgoing = upstreamCall(call, reportLoss);
  const upstreamId = pseudonymize(call.caller.owner, "session", sessionId);
  try {
    return await one(limitedHandler(context)({ kind: "session.close", sessionId: upstreamId }, outgoing));
  } catch (thrown) {
    if (AgentError.from(thrown).code !== "unsupported_method")
      throw asGatewayError(AgentError.from(thrown), credentials !== undefined);
    return { kind: "done" };
  }
}

function limitedHandler({ upstream, clock }: AdoptContext): Handler {
  return deadline(END_MS, clock)((operation, call) => upstream.handler(operation, call));
}

/** Without the caller's cancel: a caller that disconnects still wants the work to end. */
function upstreamCall(call: Call, reportLoss: LossSink): Call {
  const { caller, floor, credential, hops } = call;
  return startCall({ caller, floor, credential, hops: hops + 1, parameters: traceOf(call), reportLoss });
}
