import {
  type AuthoredRequest,
  dataPart,
  type Maybe,
  type Operation,
  type OperationOf,
  type Proof,
} from "../../../envelope/index.js";
import { optional, readObject, readText } from "../../../transport/fields.js";
import { readSigned, writeSigned } from "../codec.js";
import { SageError } from "../errors.js";
import { signingKeyOf } from "../identity/signing-key.js";
import { TASK_REQUEST, TIMES } from "../wire.js";
import { type Author, SCHEME } from "./message-proof.js";

/** The operations that only the author of a task may ask for. */
export type TaskOperation = OperationOf<"task.get" | "task.cancel" | "task.subscribe">;

export function isTaskOperation(operation: Operation): operation is TaskOperation {
  const { kind } = operation;
  return kind === "task.get" || kind === "task.cancel" || kind === "task.subscribe";
}

/** What the author of such a request signs, beside both DIDs, the times and a nonce. */
export interface TaskRequest {
  readonly operation: TaskOperation["kind"];
  /** As the agent named it: a gateway may have another id for it. */
  readonly taskId: string;
  /** The session that the answer is sealed in. Undefined: it is not sealed. */
  readonly session: Maybe<string>;
}

/** A signed message is the form of it, with an intent of its own: the same bytes, times and nonces, and no use as a message. */
export async function signTaskRequest(
  { operation, taskId, session }: TaskRequest,
  recipient: string,
  { identity, now, newId, nonce = newId() }: Author,
): Promise<AuthoredRequest> {
  const { id: kid } = signingKeyOf(identity);
  const created = Math.floor(now() / 1_000);
  const signed = writeSigned({
    ...{ id: newId(), did: identity.did, kid, recipient, created, nonce, role: "user", intent: TASK_REQUEST },
    expires: created + TIMES.lifetimeMs / 1_000,
    parts: [dataPart({ operation, task: taskId, ...(session === undefined ? undefined : { session }) })],
    requestHash: undefined,
  });
  const signature = await identity.sign(kid, signed);
  return { taskId, proof: { scheme: SCHEME, signer: identity.did, keyId: kid, signed, signature } };
}

/** Throws SageError `message.malformed`. */
export function readTaskRequest({ signed }: Pick<Proof, "signed">): TaskRequest {
  const { intent, parts } = readSigned(signed);
  const [part, other] = parts;
  try {
    if (intent !== TASK_REQUEST || part?.kind !== "data" || other !== undefined) throw new Error("it is another message");
    const object = readObject(part.data, "request");
    const operation = readText(object["operation"], "operation");
    if (operation !== "task.get" && operation !== "task.cancel" && operation !== "task.subscribe")
      throw new Error("its operation is not known");
    return {
      operation,
      taskId: readText(object["task"], "task"),
      session: optional(object["session"], "session", readText),
    };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : "it cannot be read";
    throw new SageError("message.malformed", `the signed request about a task is not valid: ${why}`, { cause: thrown });
  }
}

const MAX_CHARS = 8_192;
const FIELD = /^([\w-]+)\.([\w-]+)$/;

/** The value of the header: the signed bytes and the signature, in base64url. */
export function writeAuthor({ proof }: AuthoredRequest): string {
  return writeProof(proof);
}

export function writeProof({ signed, signature }: Pick<Proof, "signed" | "signature">): string {
  return `${Buffer.from(signed).toString("base64url")}.${Buffer.from(signature).toString("base64url")}`;
}

/** Nothing of it is verified. Throws SageError. */
export function readAuthor(text: string): AuthoredRequest {
  const proof = readProof(text);
  return { taskId: readTaskRequest(proof).taskId, proof };
}

/** Nothing of it is verified. Throws SageError. */
export function readProof(text: string): Proof {
  const [all, signed = "", signature = ""] = text.length > MAX_CHARS ? [] : (FIELD.exec(text) ?? []);
  if (all === undefined) throw new SageError("message.malformed", "what somebody signed cannot be read");
  const bytes = Buffer.from(signed, "base64url");
  const { did, kid } = readSigned(bytes);
  return { scheme: SCHEME, signer: did, keyId: kid, signed: bytes, signature: Buffer.from(signature, "base64url") };
}
