import type { Call, Envelope, Maybe, OperationOf } from "../envelope/index.js";
import type { RuntimeContext } from "./runtime-context.js";
import type { TurnState } from "./store.js";
import { Turn } from "./turn.js";

/** The owner of the task, and the name of its caller. */
export interface TurnCaller {
  readonly caller: string;
  readonly owner: string;
  readonly call?: Maybe<Call>;
  readonly delivery?: Maybe<OperationOf<"send">["delivery"]>;
  readonly restarted?: Maybe<boolean>;
}

/** The agent's view of a turn on a task that exists. */
export function openTurn(
  context: RuntimeContext,
  { caller, owner, call, delivery, restarted }: TurnCaller,
  message: Envelope,
  turnState: Omit<TurnState, "epoch" | "seq">,
): Turn {
  const { turn: number, state, task } = turnState;
  const history = task.history.filter(({ id }) => id !== message.id);
  // The message of a status joins the history with the next status; the agent has sent it already.
  if (task.status.message !== undefined) history.push(task.status.message);
  return new Turn(context, {
    message,
    sessionId: task.contextId,
    caller,
    owner,
    number,
    history,
    state,
    outputModes: undefined,
    extensions: undefined,
    call,
    delivery,
    restarted,
  });
}
