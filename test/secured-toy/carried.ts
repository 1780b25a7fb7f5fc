import {
  type AgentEvent,
  type Envelope,
  encodeBase64,
  isObject,
  type Json,
  type Maybe,
  type Operation,
  type Part,
  type Proof,
  type Task,
} from "../../src/envelope/index.js";
import { readBase64 } from "../../src/transport/read-base64.js";

/**
 * The session toy carries text and data. Bytes become data `{ $raw, type, name, metadata }`, signatures a last part `{ $proofs }`, and data that
 * looks like either `{ $data }`.
 */
export function packMessage(envelope: Envelope): Envelope {
  const { proofs, content } = envelope;
  const signed: readonly Part[] = proofs === undefined ? [] : [data({ $proofs: proofs.map(packProof) })];
  return { ...envelope, proofs: undefined, content: [...content.map(packPart), ...signed] };
}

export function unpackMessage(envelope: Envelope): Envelope {
  const last = reserved(envelope.content.at(-1));
  const list = last?.["$proofs"];
  const proofs = Array.isArray(list) ? list.map((each) => unpackProof(each)) : undefined;
  const content = proofs === undefined ? envelope.content : envelope.content.slice(0, -1);
  return { ...envelope, proofs, content: content.map(unpackPart) };
}

const RESERVED = ["$raw", "$proofs", "$data"];
const data = (value: Json): Part => ({ kind: "data", data: value });

function reserved(part: Maybe<Part>): Maybe<{ readonly [name: string]: Json | undefined }> {
  return part?.kind === "data" && isObject(part.data) && RESERVED.some((name) => name in (part.data as object))
    ? part.data
    : undefined;
}

function packPart(part: Part): Part {
  if (part.kind === "raw") {
    const { bytes, mediaType, name, metadata } = part;
    return data({
      $raw: encodeBase64(bytes),
      ...(mediaType && { type: mediaType }),
      ...(name && { name }),
      ...(metadata && { metadata }),
    });
  }
  return reserved(part) === undefined || part.kind !== "data" ? part : { ...part, data: { $data: part.data } };
}

function unpackPart(part: Part): Part {
  const wire = reserved(part);
  if (wire === undefined || part.kind !== "data") return part;
  if (wire["$data"] !== undefined) return { ...part, data: wire["$data"] };
  const { $raw, type, name, metadata } = wire;
  const bytes = readBase64($raw, "$raw");
  return {
    kind: "raw",
    bytes,
    mediaType: type === undefined ? undefined : String(type),
    name: name === undefined ? undefined : String(name),
    metadata: isObject(metadata) ? metadata : undefined,
  };
}

function packProof({ scheme, signer, keyId, signed, signature }: Proof): Json {
  return { scheme, signer, keyId, signed: encodeBase64(signed), signature: encodeBase64(signature) };
}

function unpackProof(value: Json): Proof {
  const { scheme, signer, keyId, signed, signature } = isObject(value) ? value : {};
  return {
    scheme: String(scheme),
    signer: String(signer),
    keyId: String(keyId),
    signed: readBase64(signed, "signed"),
    signature: readBase64(signature, "signature"),
  };
}

type Change = typeof packMessage;

/** An operation with its message changed. */
export function changeOperation(operation: Operation, change: Change): Operation {
  return operation.kind === "send" ? { ...operation, envelope: change(operation.envelope) } : operation;
}

/** An event with all its messages and artifacts changed. */
export function changeEvent(event: AgentEvent, change: Change): AgentEvent {
  switch (event.kind) {
    case "message":
      return { ...event, message: change(event.message) };
    case "status":
      return { ...event, status: changeStatus(event.status, change) };
    case "artifact":
      return { ...event, artifact: changeArtifact(event.artifact, change) };
    case "task":
      return { ...event, task: changeTask(event.task, change) };
    case "tasks":
      return { ...event, tasks: event.tasks.map((task) => changeTask(task, change)) };
    default:
      return event;
  }
}

function changeTask(task: Task, change: Change): Task {
  return {
    ...task,
    status: changeStatus(task.status, change),
    history: task.history.map((message) => change(message)),
    artifacts: task.artifacts.map((artifact) => changeArtifact(artifact, change)),
  };
}

function changeStatus(status: Task["status"], change: Change): Task["status"] {
  return status.message === undefined ? status : { ...status, message: change(status.message) };
}

function changeArtifact(artifact: Task["artifacts"][number], change: Change): Task["artifacts"][number] {
  const part = change === packMessage ? packPart : unpackPart;
  return { ...artifact, parts: artifact.parts.map((each) => part(each)) };
}
