import {
  type AgentError,
  type AgentEvent,
  type Call,
  isInterrupted,
  type Maybe,
  type State,
  type Task,
  type TaskEvent,
} from "../../../envelope/index.js";
import type { StreamForm } from "../../../transport/event-stream.js";
import { encodeSse, encodeSseLine } from "../../../transport/sse.js";
import type { Host } from "../../protocol.js";
import { eventText, type Opening, RunEventWriter } from "../codec.js";
import { wireErrorOf } from "../errors.js";
import type { WireEvent } from "../wire.js";
import { runFacts } from "./agents.js";
import { asSendEvent } from "./request-context.js";

/**
 * Converts the events of a task to run events. The first is the task, or the message that is the whole answer. ACP clients expect
 * `created` and `in-progress` first; the task log has no entry for the start of work, and an existing task begins with its
 * current state.
 */
export class RunEvents {
  readonly #host: Host;
  readonly #call: Call;
  readonly #opening: Opening;
  #writer: RunEventWriter | undefined;
  /** The task, until its first working status. */
  #waiting: Maybe<Task>;

  constructor(host: Host, call: Call, opening: Opening) {
    this.#host = host;
    this.#call = call;
    this.#opening = opening;
  }

  write(event: AgentEvent): readonly WireEvent[] {
    const writer = this.#writer;
    // Most events of a stream are chunks of an answer.
    if (writer !== undefined && this.#waiting === undefined) return writer.write(asSendEvent(event));
    const before = writer === undefined ? this.#beginning(event) : [];
    const opened = writer ?? new RunEventWriter(runFacts(this.#host, event, this.#call), this.#opening);
    this.#writer = opened;
    const written: WireEvent[] = [];
    for (const each of [...before, ...this.#work(event), asSendEvent(event)]) written.push(...opened.write(each));
    return written;
  }

  /** The initial state of a task that has progressed. */
  #beginning(event: AgentEvent): readonly TaskEvent[] {
    if (this.#opening === "resumed" || event.kind !== "task") return [];
    const { task } = event;
    this.#waiting = task;
    if (task.status.state === "submitted") return [];
    return [{ kind: "task", task: { ...task, status: { state: "submitted", at: task.status.at }, artifacts: [] } }];
  }

  /** The first event marks the start of work. */
  #work(event: AgentEvent): readonly TaskEvent[] {
    const task = this.#waiting;
    if (task === undefined || stateIn(event) === "submitted") return [];
    this.#waiting = undefined;
    const { id: taskId, contextId, status } = task;
    if (stateIn(event) === "working") return [];
    return [{ kind: "status", taskId, contextId, status: { state: "working", at: status.at } }];
  }
}

function stateIn(event: AgentEvent): Maybe<State> {
  if (event.kind === "status") return event.status.state;
  return event.kind === "task" ? event.task.status.state : undefined;
}

/** Encodes the server-sent events of a run. `until`: whether an awaiting run ends the stream. */
export function runForm(events: RunEvents, until: "awaiting" | "end"): StreamForm {
  return {
    encode: encodeSseLine,
    event: (event) => events.write(event).map(eventText),
    failure: (error: AgentError) => encodeSse(JSON.stringify({ type: "error", error: wireErrorOf(error) })),
    endsAfter: until === "awaiting" ? waitsForCaller : () => false,
  };
}

/** The turn has ended: the client must act. */
export function waitsForCaller(event: AgentEvent): boolean {
  const state = stateIn(event);
  return state !== undefined && isInterrupted(state);
}
