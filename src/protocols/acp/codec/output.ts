import {
  type Artifact,
  type Envelope,
  isObject,
  type JsonObject,
  type Maybe,
  type Part,
  textPart,
} from "../../../envelope/index.js";
import { optional, readArray, readBoolean, readObject, readString, readStrings } from "../../../transport/fields.js";
import type { WireMessage, WirePart } from "../wire.js";
import type { CodecFacts } from "./facts.js";
import { agentRole, checkCount, partRiddenFrom, readMessage, type Setting, writeMessage } from "./message.js";
import { lost, ownOf, ownPath } from "./own.js";
import { readPart, writePart } from "./part.js";

/** How many parts one output message may have: the SDK's server keeps every piece of a stream as a part of its own. */
const OUTPUT_PARTS = 65_536;

/** The output of a run: its artifacts and its last status message. */
export interface Output {
  readonly artifacts: readonly Artifact[];
  readonly said: Maybe<Envelope>;
  /** The agent answered with a bare message, and the run was made for the wire's sake. */
  readonly bare: boolean;
}

/** The id of an artifact that names none: by its place, as the task runtime names results. */
export function usualId(before: number): string {
  return before === 0 ? "result" : `result-${before + 1}`;
}

/** Each artifact is one message; its name is on every part. */
export function writeArtifact(artifact: Artifact, before: number, agentName: string): WireMessage {
  const parts = writeArtifactParts(artifact, artifactMembers(artifact, usualId(before)));
  return { role: agentRole(agentName), parts, created_at: null, completed_at: null };
}

/** `ride` is added to the first part, which is created if there is none. */
export function writeArtifactParts(artifact: Artifact, ride: Maybe<JsonObject>): WirePart[] {
  const { parts, name } = artifact;
  const written: WirePart[] = [];
  for (let index = 0; index < parts.length; index++)
    written.push(writePart(parts[index] as Part, "artifact", name, index === 0 ? ride : undefined)); // index < length
  if (parts.length === 0 && (ride !== undefined || name !== undefined))
    written.push(writePart(textPart(""), "artifact", name, { ...ride, none: true }));
  return written;
}

/** The members of an artifact other than its parts and name. `usual` is its default id. */
export function artifactMembers(artifact: Artifact, usual: Maybe<string>): Maybe<JsonObject> {
  const { description, metadata, extensions } = artifact;
  const id = artifact.id === usual ? undefined : artifact.id;
  if (id === undefined && description === undefined && metadata === undefined && extensions === undefined) return undefined;
  return { artifact: { id, description, metadata, extensions } };
}

/** The status message in the output, marked to distinguish it from an artifact. */
export function writeSaid(said: Envelope, agentName: string): WireMessage {
  return writeMessage(said, agentName, { said: "status", message: partRiddenFrom(said) });
}

/** A bare reply as the only output of a run. */
export function writeBare(reply: Envelope, agentName: string): WireMessage {
  return writeMessage(reply, agentName, { said: "reply", message: partRiddenFrom(reply) });
}

export function readOutput(value: unknown, path: string, setting: Setting): Output {
  const artifacts: Artifact[] = [];
  let said: Maybe<Envelope>;
  let bare = false;
  if (value !== undefined && value !== null)
    readArray(value, path, (item, at) => {
      const wire = readObject(item, at);
      const own = firstOwn(wire.parts, `${at}.parts`);
      if (own?.said === undefined) readArtifacts(wire.parts, `${at}.parts`, setting.facts, artifacts);
      else {
        said = readMessage(wire, at, setting, own);
        bare = own.said === "reply";
      }
    });
  return { artifacts, said, bare };
}

/** The Koine members on the first part of a message. */
export function firstOwn(parts: unknown, path: string): Maybe<JsonObject> {
  return Array.isArray(parts) && parts.length > 0 ? ownOf(parts[0], `${path}[0]`) : undefined;
}

/** The parts without a name are one artifact; those with one are an artifact for each name. */
function readArtifacts(value: unknown, path: string, facts: CodecFacts, artifacts: Artifact[]): void {
  const start = artifacts.length;
  if (Array.isArray(value)) checkCount(value.length, path, OUTPUT_PARTS);
  const grown = new Map<Maybe<string>, Part[]>();
  readArray(value, path, (item, at) => {
    const { name, own, parts } = readArtifactPart(item, at, facts);
    const before = grown.get(name);
    if (before !== undefined) {
      for (const part of parts) before.push(part);
      return;
    }
    const { id, description, metadata, extensions } = readArtifactFields(own, at, usualId(artifacts.length));
    artifacts.push({ id, name, description, parts, metadata, extensions });
    grown.set(name, parts);
  });
  if (grown.size > 1) tellTakenApart(facts);
  if (artifacts.length > start) return;
  const id = usualId(start);
  artifacts.push({ id, name: undefined, description: undefined, parts: [], metadata: undefined, extensions: undefined });
}

/** ACP carries neither that they were one message nor the order of the parts. */
export function tellTakenApart({ lose }: CodecFacts): void {
  lost(
    lose,
    "task.artifacts",
    "array",
    "an output message with several artifacts becomes several messages, each with its own parts",
  );
}

export interface ArtifactPart {
  readonly name: Maybe<string>;
  readonly own: Maybe<JsonObject>;
  /** One, or none where it was written for its members only. */
  readonly parts: Part[];
}

export function readArtifactPart(value: unknown, path: string, facts: CodecFacts): ArtifactPart {
  const own = ownOf(value, path);
  const part = readPart(value, path, "artifact", facts.lose);
  const name = isObject(value) ? optional(value["name"], `${path}.name`, readString) : undefined;
  return { name, own, parts: own?.none === true ? [] : [part] };
}

/** Everything of an artifact but its name and parts. */
export function readArtifactFields(own: Maybe<JsonObject>, path: string, usual: string): Omit<Artifact, "name" | "parts"> {
  if (own?.artifact === undefined) return { id: usual, description: undefined, metadata: undefined, extensions: undefined };
  const at = ownPath(path, "artifact");
  const fields = readObject(own.artifact, at);
  return {
    id: optional(fields.id, `${at}.id`, readString) ?? usual,
    description: optional(fields.description, `${at}.description`, readString),
    metadata: optional(fields.metadata, `${at}.metadata`, readObject),
    extensions: optional(fields.extensions, `${at}.extensions`, readStrings),
  };
}

/** A Koine marker on one part. */
export function ownFlag(own: Maybe<JsonObject>, member: string, path: string): boolean {
  const value = own?.[member];
  return value === undefined ? false : readBoolean(value, ownPath(path, member));
}
