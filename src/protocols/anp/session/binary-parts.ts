import type { AgentEvent, Artifact, Envelope, Operation, Part, Status, Task } from "../../../envelope/index.js";
import type { Chunk } from "../../../transport/exchange.js";
import { DecodeProblem } from "../../../transport/fields.js";

/**
 * Messages with large binary parts. Their bytes follow the JSON instead of being in it, where base64 would need a third more:
 *
 *   length of the JSON (4 bytes), JSON, number of parts (4), for each its index and length (4 and 4), then their bytes one after another
 *
 * Numbers are unsigned and big-endian. An index counts the parts with `raw` in the order of the JSON, which has an empty text there.
 */
const NUMBER_BYTES = 4;
/** Smaller parts are in the JSON. */
const LARGE_BYTES = 4 * 1024;
const NO_BYTES = new Uint8Array(0);

/** The bytes that were taken out of a message, by the index of their part. */
export type TakenBytes = ReadonlyMap<number, Uint8Array>;

type ChangePart = (part: Part) => Part;

/** An operation or event without the bytes of its large parts. The same value if it has none. */
export function takeBytes<T extends Operation | AgentEvent>(value: T): { readonly value: T; readonly taken: TakenBytes } {
  const taken = new Map<number, Uint8Array>();
  let index = 0;
  const changed = changeParts(value, (part) => {
    if (part.kind !== "raw") return part;
    const at = index++;
    if (part.bytes.length < LARGE_BYTES) return part;
    taken.set(at, part.bytes);
    return { ...part, bytes: NO_BYTES };
  });
  return taken.size === 0 ? { value, taken } : { value: changed, taken };
}

/** The reverse. Throws DecodeProblem for bytes that have no part. */
export function returnBytes<T extends Operation | AgentEvent>(value: T, taken: TakenBytes): T {
  if (taken.size === 0) return value;
  let index = 0;
  let returned = 0;
  const changed = changeParts(value, (part) => {
    if (part.kind !== "raw") return part;
    const bytes = taken.get(index++);
    if (bytes === undefined) return part;
    if (part.bytes.length > 0) throw new DecodeProblem("raw", "must be empty, because its bytes follow the JSON");
    returned++;
    return { ...part, bytes };
  });
  if (returned !== taken.size) throw new DecodeProblem("", "has bytes for a part that it does not have");
  return changed;
}

/** A message of a session: a text if no bytes were taken out. */
export function joinBytes(text: string, taken: TakenBytes): Chunk {
  if (taken.size === 0) return text;
  const json = Buffer.from(text);
  const head = Buffer.alloc(NUMBER_BYTES);
  head.writeUInt32BE(json.length);
  const table = Buffer.alloc(NUMBER_BYTES * (1 + 2 * taken.size));
  table.writeUInt32BE(taken.size);
  let at = NUMBER_BYTES;
  for (const [index, { length }] of taken) {
    table.writeUInt32BE(index, at);
    table.writeUInt32BE(length, at + NUMBER_BYTES);
    at += 2 * NUMBER_BYTES;
  }
  return Buffer.concat([head, json, table, ...taken.values()]);
}

const NOTHING_TAKEN: TakenBytes = new Map();

/** The JSON of a message, and the bytes that follow it. Throws DecodeProblem. */
export function splitBytes(frame: Chunk, maxParts: number): { readonly json: Uint8Array; readonly taken: TakenBytes } {
  if (typeof frame === "string") return { json: Buffer.from(frame), taken: NOTHING_TAKEN };
  const reader = new FrameReader(frame);
  const json = reader.bytes(reader.number());
  const count = reader.number();
  if (count > maxParts) throw new DecodeProblem("", `has the bytes of more than ${maxParts} parts`, "too_large");
  const lengths: [number, number][] = [];
  for (let each = 0; each < count; each++) lengths.push([reader.number(), reader.number()]);
  const taken = new Map(lengths.map(([index, length]) => [index, reader.bytes(length)] as const));
  if (taken.size !== count || !reader.isAtEnd) throw new DecodeProblem("", "is not a message with binary parts");
  return { json, taken };
}

class FrameReader {
  readonly #frame: Buffer;
  #at = 0;

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.#frame = Buffer.from(buffer, byteOffset, byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#frame.length;
  }

  number(): number {
    const at = this.#advance(NUMBER_BYTES);
    return this.#frame.readUInt32BE(at);
  }

  bytes(length: number): Uint8Array {
    const at = this.#advance(length);
    return this.#frame.subarray(at, at + length);
  }

  #advance(length: number): number {
    const at = this.#at;
    if (at + length > this.#frame.length) throw new DecodeProblem("", "is not a message with binary parts");
    this.#at = at + length;
    return at;
  }
}

/** In the order in which the codec writes them. */
function changeParts<T extends Operation | AgentEvent>(value: T, change: ChangePart): T;
function changeParts(value: Operation | AgentEvent, change: ChangePart): Operation | AgentEvent {
  switch (value.kind) {
    case "send":
      return { ...value, envelope: inMessage(value.envelope, change) };
    case "message":
      return { ...value, message: inMessage(value.message, change) };
    case "status":
      return { ...value, status: inStatus(value.status, change) };
    case "artifact":
      return { ...value, artifact: inArtifact(value.artifact, change) };
    case "task":
      return { ...value, task: inTask(value.task, change) };
    case "tasks":
      return { ...value, tasks: value.tasks.map((task) => inTask(task, change)) };
    default:
      return value;
  }
}

export function inMessage(envelope: Envelope, change: ChangePart): Envelope {
  return { ...envelope, content: envelope.content.map(change) };
}

function inStatus(status: Status, change: ChangePart): Status {
  return status.message === undefined ? status : { ...status, message: inMessage(status.message, change) };
}

function inArtifact(artifact: Artifact, change: ChangePart): Artifact {
  return { ...artifact, parts: artifact.parts.map(change) };
}

function inTask(task: Task, change: ChangePart): Task {
  return {
    ...task,
    status: inStatus(task.status, change),
    artifacts: task.artifacts.map((each) => inArtifact(each, change)),
    history: task.history.map((each) => inMessage(each, change)),
  };
}
