import { AgentError, type Call, type Cancel, isInterrupted, isTerminal, type Maybe } from "../../../envelope/index.js";
import { stateOf } from "../codec.js";
import type { WireMetadata } from "../wire.js";
import { post, type ReceivedReply, type Wire } from "./post.js";

/** The polling delay: short at first, because most tasks are short. */
const FIRST_LOOK_MS = 250;
const LAST_LOOK_MS = 5_000;
/** The maximum total wait for one answer. */
const LONGEST_WAIT_MS = 60 * 60 * 1000;

/** Queries or cancels a task by its receipt: a Koine extension, only for Koine peers. */
export function taskRequest(wire: Wire, about: Pick<WireMetadata, "receipt" | "cancel">, call: Call): Promise<ReceivedReply> {
  return post(wire, undefined, { protocolHash: null, protocolSources: [], body: "", metadata: { koine: 1, ...about } }, call);
}

/** Polls until the task ends or needs input. Polling has no side effects. */
export async function collected(wire: Wire, first: ReceivedReply, call: Call): Promise<ReceivedReply> {
  let received = first;
  const until = wire.ids.now() + LONGEST_WAIT_MS;
  for (let wait = FIRST_LOOK_MS; ; wait = Math.min(LAST_LOOK_MS, wait * 2)) {
    const id = unfinished(received);
    if (id === undefined) return received;
    if (wire.ids.now() >= until) throw new AgentError("deadline", `task ${id} did not end in time`, { sent: "maybe" });
    await pause(wait, call.cancel);
    received = await taskRequest(wire, { receipt: { id } }, call);
  }
}

/** The id of a task that is still running. */
function unfinished({ reply, error }: ReceivedReply): Maybe<string> {
  const taskState = error === undefined ? stateOf(reply.metadata.receipt) : undefined;
  return taskState === undefined || isTerminal(taskState.state) || isInterrupted(taskState.state) ? undefined : taskState.id;
}

function pause(ms: number, cancel: Cancel): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      off();
      resolve();
    }, ms);
    const off = cancel.onCancel((reason) => {
      clearTimeout(timer);
      reject(reason);
    });
  });
}
