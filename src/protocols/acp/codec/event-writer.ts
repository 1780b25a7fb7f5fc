import {
  type Artifact,
  type EventOf,
  isTerminal,
  type JsonObject,
  type Maybe,
  type Status,
  type Task,
  type TaskEvent,
  TaskFold,
  textOf,
} from "../../../envelope/index.js";
import type { WireEvent, WireMessage, WirePart, WireRun } from "../wire.js";
import type { RunFacts } from "./facts.js";
import { KOINE_KEY, reportLossAt } from "./koine-members.js";
import { agentRole, partMembersOf, writeMessage } from "./message.js";
import { artifactMembers, defaultArtifactId, writeArtifactParts, writeStatusMessage } from "./output.js";
import { encodeReply, encodeRun } from "./run.js";

/** `created` writes the complete run; `resumed` continues after the first snapshot. */
export type Opening = "created" | "resumed";

/**
 * Encodes the events of one task as ACP events, in order. A message stays open while its artifact grows. The task is kept as
 * well, because the last event contains the complete run.
 */
export class RunEventWriter {
  readonly #facts: RunFacts;
  readonly #opening: Opening;
  readonly #artifactIds = new Set<string>();
  #fold: TaskFold | undefined;
  #working = false;
  #open: { readonly id: string; readonly parts: WirePart[] } | undefined;

  constructor(facts: RunFacts, opening: Opening = "created") {
    this.#facts = facts;
    this.#opening = opening;
  }

  write(event: EventOf<"send">): readonly WireEvent[] {
    const events: WireEvent[] = [];
    if (event.kind === "message") {
      const run = encodeReply(event.message, event.message.context.taskId ?? event.message.id, this.#facts);
      events.push({ type: "run.created", run: { ...run, status: "created", output: [], finished_at: null } });
      for (const message of run.output) pushMessageEvents(events, message);
      events.push({ type: "run.completed", run });
      return events;
    }
    if (event.kind === "task") this.#task(event.task, events);
    else if (this.#fold === undefined) throw new TypeError("a run's events begin with its task");
    else {
      this.#fold.apply(event);
      if (event.kind === "artifact") this.#artifact(event, events);
      else this.#status(event, this.#fold, events);
    }
    return events;
  }

  #task(task: Task, events: WireEvent[]): void {
    const isFirst = this.#fold === undefined;
    this.#fold ??= new TaskFold(task);
    if (!isFirst) this.#fold.apply({ kind: "task", task });
    if (isFirst && this.#opening === "resumed") {
      for (const { id } of task.artifacts) this.#artifactIds.add(id);
      this.#working = true;
      // The current run, for a client that has read the events up to here.
      events.push({ type: typeOf(task.status), run: this.#run(task) });
      return;
    }
    if (isFirst) events.push({ type: "run.created", run: { ...this.#run(submitted(task)), output: [] } });
    const { status } = task;
    const goesOn = status.state === "working" || status.state === "unknown";
    if (goesOn && (!this.#working || status.message !== undefined)) this.#progress(status, undefined, this.#fold, events);
    for (const artifact of task.artifacts)
      if (!this.#artifactIds.has(artifact.id)) {
        const { id: taskId, contextId } = task;
        // An unfinished artifact may still grow.
        const last = isTerminal(status.state);
        this.#artifact({ kind: "artifact", taskId, contextId, artifact, append: false, last }, events);
      }
    if (!goesOn && status.state !== "submitted") this.#change(status, undefined, task, events);
  }

  #status({ status, metadata }: Extract<TaskEvent, { kind: "status" }>, fold: TaskFold, events: WireEvent[]): void {
    if (status.state === "working" || status.state === "unknown" || status.state === "submitted") {
      this.#progress(status, metadata, fold, events);
      return;
    }
    // ACP has no event for a run that is being cancelled.
    if (status.state === "canceling") return;
    this.#change(status, metadata, fold.snapshot(), events);
  }

  /**
   * A status message at the start of work has its own event; `says` marks the pair for Koine readers. The task is copied for that
   * event only, because an agent may report progress thousands of times.
   */
  #progress(status: Status, metadata: Maybe<JsonObject>, fold: TaskFold, events: WireEvent[]): void {
    const begins = status.state !== "submitted" && !this.#working;
    const hasMessage = !begins || status.message !== undefined || metadata !== undefined;
    if (begins) {
      this.#working = true;
      const run = this.#run({ ...fold.snapshot(), status: { state: status.state, at: status.at } });
      events.push({ type: "run.in-progress", run, ...(hasMessage ? { [KOINE_KEY]: { says: hasMessage } } : undefined) });
    }
    if (hasMessage) events.push(genericOf(status, metadata, this.#facts.agentName));
  }

  #change(status: Status, metadata: Maybe<JsonObject>, task: Task, events: WireEvent[]): void {
    const { agentName, reportLoss } = this.#facts;
    if (metadata !== undefined) reportLossAt(reportLoss, "event.metadata", "object", "only progress events carry metadata");
    this.#working = status.state === "working" || status.state === "unknown";
    if (!this.#working) this.#close(events);
    if (isTerminal(status.state) && status.message !== undefined)
      pushMessageEvents(events, writeStatusMessage(status.message, agentName));
    events.push({ type: typeOf(status), run: this.#run(task) });
  }

  #artifact(event: Extract<TaskEvent, { kind: "artifact" }>, events: WireEvent[]): void {
    const { artifact, append, last, metadata } = event;
    if (metadata !== undefined)
      reportLossAt(this.#facts.reportLoss, "event.metadata", "object", "an event of a message has no metadata");
    const goesOn = this.#open?.id === artifact.id && append;
    const open = goesOn && this.#open !== undefined ? this.#open : this.#begin(artifact, events);
    const parts = writeArtifactParts(artifact, goesOn ? undefined : this.#opened(artifact, append));
    if (last) markLast(parts, artifact);
    for (const part of parts) {
      open.parts.push(part);
      events.push({ type: "message.part", part });
    }
    if (last) this.#close(events);
  }

  #begin(artifact: Artifact, events: WireEvent[]): { readonly id: string; readonly parts: WirePart[] } {
    this.#close(events);
    const open = { id: artifact.id, parts: [] };
    this.#open = open;
    events.push({ type: "message.created", message: this.#message([]) });
    return open;
  }

  /** The artifact of a new message, if a client that counts messages would assume another. */
  #opened(artifact: Artifact, append: boolean): Maybe<JsonObject> {
    const isNew = !this.#artifactIds.has(artifact.id);
    const members = artifactMembers(artifact, isNew ? defaultArtifactId(this.#artifactIds.size) : undefined);
    this.#artifactIds.add(artifact.id);
    if (append) return { ...members, append };
    // Without parts, no other event marks the start of the message.
    return artifact.parts.length === 0 ? { ...members } : members;
  }

  #close(events: WireEvent[]): void {
    if (this.#open === undefined) return;
    events.push({ type: "message.completed", message: this.#message(this.#open.parts) });
    this.#open = undefined;
  }

  #message(parts: readonly WirePart[]): WireMessage {
    return { role: agentRole(this.#facts.agentName), parts, created_at: null, completed_at: null };
  }

  #run(task: Task): WireRun {
    return encodeRun(task, this.#facts);
  }
}

/** The run in its initial state. */
function submitted(task: Task): Task {
  return { ...task, status: { state: "submitted", at: task.status.at }, artifacts: [] };
}

function typeOf({ state }: Status): Extract<WireEvent, { run: WireRun }>["type"] {
  switch (state) {
    case "input-required":
    case "auth-required":
      return "run.awaiting";
    case "completed":
      return "run.completed";
    case "canceled":
      return "run.cancelled";
    case "failed":
    case "rejected":
      return "run.failed";
    case "submitted":
    case "working":
    case "unknown":
    case "canceling":
      return "run.in-progress";
    default:
      return state satisfies never;
  }
}

function pushMessageEvents(events: WireEvent[], message: WireMessage): void {
  events.push({ type: "message.created", message: { ...message, parts: [], completed_at: null } });
  for (const part of message.parts) events.push({ type: "message.part", part });
  events.push({ type: "message.completed", message });
}

/** The last chunk is marked on its last part. */
function markLast(parts: WirePart[], artifact: Artifact): void {
  const part = parts.pop() ?? writeArtifactParts({ ...artifact, parts: [] }, {})[0];
  if (part === undefined) return;
  const own = part[KOINE_KEY];
  parts.push({ ...part, [KOINE_KEY]: { ...(own as Maybe<JsonObject>), last: true } }); // written just before
}

/**
 * Progress. Metadata alone is also what ACP agents send. With a message, the text is in the usual member and Koine readers
 * separate the two; with neither, only the state was repeated.
 */
function genericOf(status: Status, metadata: Maybe<JsonObject>, agentName: string): WireEvent {
  const { message, at } = status;
  if (message === undefined) return { type: "generic", generic: metadata ?? { [KOINE_KEY]: { at } } };
  const { role, parts, created_at } = writeMessage(message, agentName, { message: partMembersOf(message) });
  const own: JsonObject = { at, message: { role, parts, created_at }, metadata };
  return { type: "generic", generic: { message: textOf(message.content), ...metadata, [KOINE_KEY]: own } };
}
