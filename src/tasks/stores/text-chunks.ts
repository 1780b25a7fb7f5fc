import { type Maybe, type TaskEvent, textPart } from "../../envelope/index.js";

/** What the chunks of one artifact have in common. */
export interface ChunkedArtifact {
  readonly taskId: string;
  readonly contextId: string;
  readonly artifactId: string;
}

/** The text of an event that is one more chunk of text of an artifact and nothing else; undefined for all others. */
export function textOfChunk(event: TaskEvent, artifactId: Maybe<string>): Maybe<string> {
  if (event.kind !== "artifact" || !event.append || event.last || event.metadata !== undefined) return undefined;
  const { id, name, description, parts, metadata, extensions } = event.artifact;
  const [part] = parts;
  if (part?.kind !== "text" || parts.length > 1 || (artifactId !== undefined && id !== artifactId)) return undefined;
  const isPlain = name === undefined && description === undefined && metadata === undefined && extensions === undefined;
  const isPlainPart = part.mediaType === undefined && part.name === undefined && part.metadata === undefined;
  return isPlain && isPlainPart ? part.text : undefined;
}

/** The event again. */
export function chunkOfText(text: string, { taskId, contextId, artifactId }: ChunkedArtifact): TaskEvent {
  const artifact = {
    id: artifactId,
    name: undefined,
    description: undefined,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: undefined,
  };
  return { kind: "artifact", taskId, contextId, artifact, append: true, last: false, metadata: undefined };
}
