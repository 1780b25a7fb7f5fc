import { isSealed, type JsonObject, type Maybe, type Metadata, type Part, SEALED_TYPE } from "../../../envelope/index.js";
import { canonicalJson } from "../../../security/json-canonical.js";
import { optional, readArray, readBoolean, readInteger, readObject, readText } from "../../../transport/fields.js";
import { readJson } from "../../../transport/json.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { SageError } from "../errors.js";
import { readPart, withoutUndefined, writePart } from "./signed-message.js";

/** What is sealed of a message or an artifact. Ids, states and the operation stay in clear, so that a gateway can route. */
export interface SealedContent {
  readonly parts: readonly Part[];
  readonly metadata?: Maybe<Metadata>;
  /** The id that the sender has for its task. */
  readonly task?: Maybe<string>;
  /** Only in the first record of a stream that goes on after another. */
  readonly continues?: Maybe<Continuation>;
}

/** Where a stream goes on after a connection was lost: whoever passes it on cannot leave out what was between. */
export interface Continuation {
  /** The id of the message that the stream answers. */
  readonly message: string;
  /** The stream before it. Undefined: it has the first contents of the answer. */
  readonly after: Maybe<StreamPosition>;
}

export interface StreamPosition {
  readonly stream: string;
  /** How many records of it came before. */
  readonly records: number;
}

/** What a sealed content belongs to. It is authenticated with it: the content is good for nothing else. */
export interface SealedFor {
  readonly what: "message" | "artifact";
  /** The id of the message or the artifact. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
}

/** Where to open it: the session, and the stream inside it. */
export interface SealedAt {
  readonly kid: string;
  readonly stream?: Maybe<string>;
  /** It is good for the history of a task only: such records are outside of the order of a stream. */
  readonly history?: Maybe<boolean>;
}

/** Seals bytes: a session, or a stream of it. */
export type Seal = (plaintext: Uint8Array, associated: Uint8Array) => Uint8Array;

const encoder = new TextEncoder();
const LINE_END = 0x0a;

/** The content as one part that only the recipient can read: a line that says where to open it, and the record. */
export function sealContent(content: SealedContent, belongs: SealedFor, at: SealedAt, seal: Seal): Part {
  const { parts, metadata, task, continues } = content;
  const plain = {
    parts: parts.map(writePart),
    ...(metadata === undefined ? undefined : { metadata: withoutUndefined(metadata) }),
    ...(task === undefined ? undefined : { task }),
    ...(continues === undefined ? undefined : { continues: writeContinuation(continues) }),
  };
  const head = encoder.encode(`${headOf(at)}\n`);
  const record = seal(encoder.encode(canonicalJson(plain)), associatedOf(belongs, at));
  const bytes = new Uint8Array(head.length + record.length);
  bytes.set(head);
  bytes.set(record, head.length);
  return { kind: "raw", bytes, mediaType: SEALED_TYPE };
}

/** A sealed part of SAGE, taken apart. Undefined: these parts are not sealed. Throws SageError for what cannot be read. */
export function sealedIn(parts: readonly Part[]): Maybe<SealedAt & { readonly record: Uint8Array }> {
  const [part, other] = parts;
  if (!parts.some(isSealed)) return undefined;
  if (part?.kind !== "raw" || other !== undefined) throw malformed("a sealed message has one part");
  const end = part.bytes.indexOf(LINE_END);
  try {
    const head = readObject(readJson(part.bytes.subarray(0, Math.max(end, 0)), DEFAULT_LIMITS), "head");
    return {
      kid: readText(head["kid"], "kid"),
      stream: optional(head["stream"], "stream", readText),
      history: optional(head["history"], "history", readBoolean),
      record: part.bytes.subarray(end + 1),
    };
  } catch (thrown) {
    throw malformed("the sealed part does not say where to open it", thrown);
  }
}

/** The content of a record, after it was opened. */
export function readContent(plaintext: Uint8Array): SealedContent {
  try {
    const object = readObject(readJson(plaintext, DEFAULT_LIMITS), "content");
    return {
      parts: readArray(object["parts"], "parts", readPart),
      metadata: optional(object["metadata"], "metadata", readObject),
      task: optional(object["task"], "task", readText),
      continues: optional(object["continues"], "continues", readContinuation),
    };
  } catch (thrown) {
    throw malformed("the sealed content is not valid", thrown);
  }
}

function writeContinuation({ message, after }: Continuation): JsonObject {
  return { message, ...(after === undefined ? undefined : { stream: after.stream, records: after.records }) };
}

function readContinuation(value: unknown, path: string): Continuation {
  const object = readObject(value, path);
  const message = readText(object["message"], `${path}.message`);
  const stream = optional(object["stream"], `${path}.stream`, readText);
  if (stream === undefined) return { message, after: undefined };
  return { message, after: { stream, records: readInteger(object["records"], `${path}.records`) } };
}

export function associatedOf({ what, id, from, to }: SealedFor, at: SealedAt): Uint8Array {
  return encoder.encode(`koine-sage-content|1\n${canonicalJson({ what, id, from, to })}\n${headOf(at)}`);
}

function headOf({ kid, stream, history }: SealedAt): string {
  const head: JsonObject = { kid, ...(stream === undefined ? undefined : { stream }), ...(history === true && { history }) };
  return canonicalJson(head);
}

function malformed(problem: string, cause?: unknown): SageError {
  return new SageError("message.malformed", problem, { cause });
}
