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
import { koineMembersOf, koinePath, reportLossAt } from "./koine-members.js";
import { agentRole, checkCount, partMembersOf, readMessage, type Setting, writeMessage } from "./message.js";
import { readPart, writePart } from "./part.js";

/** Limit of parts per output message. The SDK server keeps every chunk of a stream as a part. */
const OUTPUT_PARTS = 65_536;

/** The output of a run: its artifacts and its last status message. */
export interface Output {
  readonly artifacts: readonly Artifact[];
  readonly message: Maybe<Envelope>;
  /** The agent answered with a message; the run exists only on the wire. */
  readonly bare: boolean;
}

/** The default id of an artifact: by position, as the task runtime names results. */
export function defaultArtifactId(before: number): string {
  return before === 0 ? "result" : `result-${before + 1}`;
}

/** Each artifact is one message; its name is on every part. */
export function writeArtifact(artifact: Artifact, before: number, agentName: string): WireMessage {
  const parts = writeArtifactParts(artifact, artifactMembers(artifact, defaultArtifactId(before)));
  return { role: agentRole(agentName), parts, created_at: null, completed_at: null };
}

/** `extension` is added to the first part, which is created if there is none. */
export function writeArtifactParts(artifact: Artifact, extension: Maybe<JsonObject>): WirePart[] {
  const { parts, name } = artifact;
  const written: WirePart[] = [];
  for (let index = 0; index < parts.length; index++)
    written.push(writePart(parts[index] as Part, "artifact", name, index === 0 ? extension : undefined)); // index < length
  if (parts.length === 0 && (extension !== undefined || name !== undefined))
    written.push(writePart(textPart(""), "artifact", name, { ...extension, none: true }));
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
export function writeStatusMessage(message: Envelope, agentName: string): WireMessage {
  return writeMessage(message, agentName, { said: "status", message: partMembersOf(message) });
}

/** A message as the only output of a run. */
export function writeBare(reply: Envelope, agentName: string): WireMessage {
  return writeMessage(reply, agentName, { said: "reply", message: partMembersOf(reply) });
}

export function readOutput(value: unknown, path: string, setting: Setting): Output {
  const artifacts: Artifact[] = [];
  let message: Maybe<Envelope>;
  let bare = false;
  if (value !== undefined && value !== null)
    readArray(value, path, (item, at) => {
      const wire = readObject(item, at);
      const own = firstKoineMembers(wire.parts, `${at}.parts`);
      if (own?.said === undefined) readArtifacts(wire.parts, `${at}.parts`, setting.facts, artifacts);
      else {
        message = readMessage(wire, at, setting, own);
        bare = own.said === "reply";
      }
    });
  return { artifacts, message, bare };
}

/** The Koine members on the first part of a message. */
export function firstKoineMembers(parts: unknown, path: string): Maybe<JsonObject> {
  return Array.isArray(parts) && parts.length > 0 ? koineMembersOf(parts[0], `${path}[0]`) : undefined;
}

/** Parts without a name form one artifact; parts with a name form one artifact per name. */
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
    const { id, description, metadata, extensions } = readArtifactFields(own, at, defaultArtifactId(artifacts.length));
    artifacts.push({ id, name, description, parts, metadata, extensions });
    grown.set(name, parts);
  });
  if (grown.size > 1) reportSplitMessage(facts);
  if (artifacts.length > start) return;
  const id = defaultArtifactId(start);
  artifacts.push({ id, name: undefined, description: undefined, parts: [], metadata: undefined, extensions: undefined });
}

/** ACP carries neither the message boundary nor the order of parts across artifacts. */
export function reportSplitMessage({ reportLoss }: CodecFacts): void {
  reportLossAt(reportLoss, "task.artifacts", "array", "an output message with several artifacts is split into several messages");
}

export interface ArtifactPart {
  readonly name: Maybe<string>;
  readonly own: Maybe<JsonObject>;
  /** One message, or none if it was written for its members only. */
  readonly parts: Part[];
}

export function readArtifactPart(value: unknown, path: string, facts: CodecFacts): ArtifactPart {
  const own = koineMembersOf(value, path);
  const part = readPart(value, path, "artifact", facts);
  const name = isObject(value) ? optional(value["name"], `${path}.name`, readString) : undefined;
  return { name, own, parts: own?.none === true ? [] : [part] };
}

/** The members of an artifact other than its name and parts. */
export function readArtifactFields(own: Maybe<JsonObject>, path: string, usual: string): Omit<Artifact, "name" | "parts"> {
  if (own?.artifact === undefined) return { id: usual, description: undefined, metadata: undefined, extensions: undefined };
  const at = koinePath(path, "artifact");
  const fields = readObject(own.artifact, at);
  return {
    id: optional(fields.id, `${at}.id`, readString) ?? usual,
    description: optional(fields.description, `${at}.description`, readString),
    metadata: optional(fields.metadata, `${at}.metadata`, readObject),
    extensions: optional(fields.extensions, `${at}.extensions`, readStrings),
  };
}

/** A Koine marker on one part. */
export function koineFlag(own: Maybe<JsonObject>, member: string, path: string): boolean {
  const value = own?.[member];
  return value === undefined ? false : readBoolean(value, koinePath(path, member));
}
