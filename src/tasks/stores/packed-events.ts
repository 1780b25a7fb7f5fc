import { type Artifact, type Maybe, type Status, type TaskEvent, textPart } from "../../envelope/index.js";

/** The task of the events, and the artifact that most of their chunks belong to. */
export interface PackedIds {
  readonly taskId: string;
  readonly contextId: string;
  readonly artifactId: string;
}

/** A text of the artifact that is no chunk in the middle of it. */
class TextChunk {
  constructor(
    readonly text: string,
    readonly append: boolean,
    readonly last: boolean,
  ) {}
}

/**
 * An event as a task that ended keeps it. Most are a status, or a text of one artifact: what is the same in all of them is left out, and an
 * agent that writes word by word makes hundreds. A string is one more chunk of the artifact.
 */
export type PackedEvent = TaskEvent | Status | TextChunk | string;

/** As it was appended. */
export function isWhole(packed: PackedEvent): packed is TaskEvent {
  return typeof packed === "object" && "kind" in packed;
}

/** The same event, with as little as brings it back. */
export function packEvent(event: TaskEvent, ids: PackedIds): PackedEvent {
  if (event.kind === "task" || event.metadata !== undefined) return event;
  if (event.taskId !== ids.taskId || event.contextId !== ids.contextId) return event;
  if (event.kind === "status") return event.status;
  const { artifact, append, last } = event;
  const text = artifact.id === ids.artifactId ? onlyTextOf(artifact) : undefined;
  if (text === undefined) return event;
  return append && !last ? text : new TextChunk(text, append, last);
}

export function unpackEvent(packed: PackedEvent, ids: PackedIds): TaskEvent {
  if (typeof packed === "string") return textEvent(packed, true, false, ids);
  if (packed instanceof TextChunk) return textEvent(packed.text, packed.append, packed.last, ids);
  if (isWhole(packed)) return packed;
  const { taskId, contextId } = ids;
  return { kind: "status", taskId, contextId, status: packed, metadata: undefined };
}

/** The text of an artifact that has nothing else. */
function onlyTextOf({ name, description, parts, metadata, extensions }: Artifact): Maybe<string> {
  const [part] = parts;
  if (part?.kind !== "text" || parts.length > 1) return undefined;
  const isPlain = name === undefined && description === undefined && metadata === undefined && extensions === undefined;
  const isPlainPart = part.mediaType === undefined && part.name === undefined && part.metadata === undefined;
  return isPlain && isPlainPart ? part.text : undefined;
}

function textEvent(text: string, append: boolean, last: boolean, { taskId, contextId, artifactId }: PackedIds): TaskEvent {
  const artifact = {
    id: artifactId,
    name: undefined,
    description: undefined,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: undefined,
  };
  return { kind: "artifact", taskId, contextId, artifact, append, last, metadata: undefined };
}
