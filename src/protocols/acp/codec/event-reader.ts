import {
  type AgentEvent,
  type Artifact,
  isObject,
  isTerminal,
  type JsonObject,
  type Maybe,
  type Status,
} from "../../../envelope/index.js";
import { DecodeProblem, optional, readArray, readObject } from "../../../transport/fields.js";
import { errorFromWire } from "../errors.js";
import type { CodecFacts } from "./facts.js";
import { KOINE_KEY, koineMembersOf } from "./koine-members.js";
import { readMessage } from "./message.js";
import {
  defaultArtifactId,
  firstKoineMembers,
  koineFlag,
  readArtifactFields,
  readArtifactPart,
  reportSplitMessage,
} from "./output.js";
import { type ReadRun, readRun } from "./run.js";

/** A message whose parts are still coming. */
interface OpenMessage {
  /** The artifacts by name. */
  readonly ids: Map<Maybe<string>, string>;
  parts: number;
  /** The last status message, as carried by the run. */
  isStatusMessage: boolean;
}

const NONE: readonly AgentEvent[] = Object.freeze([]);

/** Decodes the events of a run: the task first, then its updates. Parts are appended to artifacts. */
export class RunEventReader {
  readonly #facts: CodecFacts;
  readonly #artifactIds = new Set<string>();
  #run: { readonly taskId: string; readonly contextId: string } | undefined;
  #open: OpenMessage | undefined;

  constructor(facts: CodecFacts) {
    this.#facts = facts;
  }

  /** Throws a DecodeProblem, or the error that the stream carries. */
  read(item: unknown): readonly AgentEvent[] {
    const event = readObject(item, "event");
    this.#facts.nested.restart();
    switch (event.type) {
      case "run.created":
      case "run.in-progress":
      case "run.awaiting":
      case "run.completed":
      case "run.failed":
      case "run.cancelled":
        return this.#change(readRun(event.run, "event.run", this.#facts), event);
      case "message.created":
        this.#open = { ids: new Map(), parts: 0, isStatusMessage: false };
        return NONE;
      case "message.part":
        return this.#part(event.part, "event.part");
      case "message.completed":
        return this.#completed(readObject(event.message, "event.message"));
      case "generic":
        return [this.#progress(readObject(event.generic, "event.generic"))];
      case "error":
        throw errorFromWire(event.error);
      default:
        if (typeof event.type !== "string") throw new DecodeProblem("event.type", "is missing; a string is expected");
        // An event kind added after 0.2: its content is also in the run.
        return NONE;
    }
  }

  #change({ task, output }: ReadRun, event: JsonObject): readonly AgentEvent[] {
    const { id: taskId, contextId, status, artifacts } = task;
    if (this.#run === undefined) {
      this.#run = { taskId, contextId };
      for (const { id } of artifacts) this.#artifactIds.add(id);
      this.#open = openAt(event.run, artifacts);
      return output.bare && output.message !== undefined
        ? [{ kind: "message", message: output.message }]
        : [{ kind: "task", task }];
    }
    if (output.bare && output.message !== undefined) return [{ kind: "message", message: output.message }];
    const events: AgentEvent[] = [];
    // The final run is authoritative: emits what no event has carried.
    for (const artifact of artifacts)
      if (!this.#artifactIds.has(artifact.id)) {
        this.#artifactIds.add(artifact.id);
        events.push({ kind: "artifact", taskId, contextId, artifact, append: false, last: true });
      }
    // A Koine server carries a status message and the start of work in one event.
    const hasMessage = event.type === "run.in-progress" && koineMembersOf(event, "event")?.says === true;
    if (!hasMessage) events.push({ kind: "status", taskId, contextId, status });
    if (isTerminal(status.state)) this.#open = undefined;
    return events;
  }

  #part(value: unknown, path: string): readonly AgentEvent[] {
    const { taskId, contextId } = this.#known();
    const { name, own, parts } = readArtifactPart(value, path, this.#facts);
    this.#open ??= { ids: new Map(), parts: 0, isStatusMessage: false };
    const open = this.#open;
    open.parts++;
    if (own?.said !== undefined) open.isStatusMessage = true;
    if (open.isStatusMessage) return NONE;
    const before = open.ids.get(name);
    const fields = readArtifactFields(own, path, before ?? defaultArtifactId(this.#artifactIds.size));
    open.ids.set(name, fields.id);
    if (before === undefined && open.ids.size === 2) reportSplitMessage(this.#facts);
    this.#artifactIds.add(fields.id);
    const append = before !== undefined || koineFlag(own, "append", path);
    // Member by member: a spread takes more time than all the rest, and a stream consists of these.
    const { id, description, metadata, extensions } = fields;
    const artifact: Artifact = { id, name, description, parts, metadata, extensions };
    return [{ kind: "artifact", taskId, contextId, artifact, append, last: koineFlag(own, "last", path) }];
  }

  /** Some servers send only completed messages, without their parts. */
  #completed(message: JsonObject): readonly AgentEvent[] {
    const missing: AgentEvent[] = [];
    const emitted = this.#open?.parts ?? 0;
    let index = 0;
    readArray(message.parts, "event.message.parts", (part, path) => {
      if (index++ >= emitted) missing.push(...this.#part(part, path));
    });
    this.#open = undefined;
    return missing;
  }

  #progress(generic: JsonObject): AgentEvent {
    const { taskId, contextId } = this.#known();
    const path = `event.generic["${KOINE_KEY}"]`;
    const own = optional(generic[KOINE_KEY], path, readObject);
    if (own === undefined)
      return { kind: "status", taskId, contextId, status: { state: "working", at: this.#facts.now }, metadata: generic };
    const wireMessage = optional(own.message, `${path}.message`, readObject);
    const ids = { sessionId: contextId === "" ? undefined : contextId, taskId };
    const first = firstKoineMembers(wireMessage?.parts, `${path}.message.parts`);
    const message =
      wireMessage === undefined ? undefined : readMessage(wireMessage, `${path}.message`, { facts: this.#facts, ids }, first);
    const at = typeof own.at === "number" ? own.at : this.#facts.now;
    const status: Status = { state: "working", at, message };
    return { kind: "status", taskId, contextId, status, metadata: optional(own.metadata, `${path}.metadata`, readObject) };
  }

  #known(): { readonly taskId: string; readonly contextId: string } {
    if (this.#run === undefined) throw new DecodeProblem("event", "precedes the event with its run");
    return this.#run;
  }
}

/** The SDK server continues the open message after a resume, without a new start event. */
function openAt(run: unknown, artifacts: readonly Artifact[]): Maybe<OpenMessage> {
  const output = isObject(run) && Array.isArray(run["output"]) ? (run["output"] as readonly unknown[]) : [];
  const message = output[output.length - 1];
  const last = artifacts[artifacts.length - 1];
  if (!isObject(message) || last === undefined || typeof message["completed_at"] === "string") return undefined;
  const parts = Array.isArray(message["parts"]) ? message["parts"].length : 0;
  return { ids: new Map([[last.name, last.id]]), parts, isStatusMessage: false };
}
