import { authoredRequests, type Call, type Json, type Maybe, type Reply } from "../envelope/index.js";
import type { ForwardedOperation } from "../tasks/index.js";
import type { AdoptContext } from "./adopt-context.js";
import { readState } from "./adopted-state.js";

/**
 * Passes a request about an upstream task on, with the proof of its author. Without one that names this task the gateway answers with what
 * it stored: in its own name the upstream would show it nothing.
 */
export function forwardAuthored({
  upstream,
  credentials,
}: AdoptContext): (operation: ForwardedOperation, saved: Json, call: Call) => Maybe<Reply> {
  return (operation, saved, call) => {
    const state = readState(saved);
    if (state === undefined || authoredRequests.of(call)?.taskId !== state.taskId) return undefined;
    const outgoing = call.derive({ hops: call.hops + 1 });
    return upstream.handler({ ...operation, taskId: state.taskId }, credentials?.open(state.credential, outgoing) ?? outgoing);
  };
}
