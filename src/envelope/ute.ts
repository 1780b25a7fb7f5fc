import { decodeBase64, encodeBase64 } from "./base64.js";
import type { Context, Envelope, Proof } from "./envelope.js";
import { AgentError } from "./error.js";
import { isObject, type Json, type JsonObject, type Maybe, type Metadata } from "./json.js";
import { jsonText, partBytes } from "./part-bytes.js";
import { invalid, readContent, writeContent } from "./ute-content.js";
import { asBoolean, asCount, asNumber, asObject, asString, asStrings, joinMembers, MemberReader } from "./ute-members.js";

/** UTE JSON: the envelope as a document, for logs, files, recordings and the inspector. */

/** Content below this size is sent inside the envelope; larger content by `artifact_refs`. */
export const INLINE_CONTENT_BYTES = 1_000_000;

/** Options for writing an envelope. */
export interface WriteUteOptions {
  /** Content of this size or more is refused. Default: `INLINE_CONTENT_BYTES`. */
  readonly inlineBytes?: number;
}

/**
 * Reads a UTE document. Unknown members, and known ones with null or a default value, are kept in `extra`: those of the document at its
 * top level, those of the two groups below `extra.context` and `extra.meta`.
 */
export function readUte(document: unknown): Envelope {
  const top = new MemberReader(document, "");
  const id = top.standard("id", asString, "a string") ?? "";
  const ts = top.standard("ts", asNumber, "a number of seconds") ?? 0;
  const intent = top.standard("intent", asString, "a string") ?? "";
  if (id === "") top.putBack("id");
  if (ts === 0) top.putBack("ts");
  if (intent === "") top.putBack("intent");
  const src = required(top.standard("src", asString, "a string"), "src");
  const dst = required(top.standard("dst", asString, "a string"), "dst");
  const content = readContent(required(top.take("content"), "content"));
  const context = new MemberReader(top.take("context"), "context");
  const metaSource = top.standard("meta", asObject, "an object");
  const meta = metaSource && new MemberReader(metaSource, "meta");
  const agent = top.extension("role", (role) => (role === "agent" ? role : undefined));
  return {
    id,
    ts,
    src,
    dst,
    intent,
    role: agent ?? "user",
    content,
    context: readContext(context),
    meta: {
      protocolHint: meta?.standard("protocol_hint", asString, "a string"),
      retryCount: meta?.standard("retry_count", asCount, "a whole number"),
    },
    references: top.extension("references", asStrings),
    extensions: top.extension("extensions", asStrings),
    metadata: top.extension("metadata", asObject),
    proofs: top.extension("proofs", readProofs),
    extra: gather(top.rest(), context.rest(), meta?.rest(), metaSource),
  };
}

/** The UTE document of an envelope, in the standard member order. Throws `too_large` if its content should be sent by reference. */
export function writeUte(envelope: Envelope, options: WriteUteOptions = {}): JsonObject {
  const { id, ts, intent, extra } = envelope;
  if (!Number.isFinite(ts)) throw new AgentError("encode", "ts must be a number of seconds", { field: "ts" });
  checkInline(envelope, options.inlineBytes ?? INLINE_CONTENT_BYTES);
  return joinMembers(
    [
      ["id", id === "" ? undefined : id],
      ["ts", ts === 0 ? undefined : ts],
      ["src", envelope.src],
      ["dst", envelope.dst],
      ["intent", intent === "" ? undefined : intent],
      ["content", writeContent(envelope.content)],
      ["context", writeContext(envelope.context, extra?.["context"])],
      ["meta", writeMeta(envelope.meta, extra?.["meta"])],
      ["role", envelope.role === "agent" ? "agent" : undefined],
      ["references", envelope.references],
      ["extensions", envelope.extensions],
      ["metadata", envelope.metadata],
      ["proofs", envelope.proofs?.map(writeProof)],
    ],
    extra,
  );
}

/** Parses UTE text. Callers with untrusted text must bound its length and depth first. */
export function parseUte(text: string): Envelope {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (thrown) {
    throw new AgentError("decode", "the envelope is not JSON", { cause: thrown });
  }
  return readUte(document);
}

/** The UTE document as one line of JSON. */
export function formatUte(envelope: Envelope, options: WriteUteOptions = {}): string {
  return jsonText(writeUte(envelope, options));
}

function readContext(context: MemberReader): Context {
  return {
    traceId: context.standard("trace_id", asString, "a string"),
    parentId: context.standard("parent_id", asString, "a string"),
    idempotencyKey: context.standard("idempotency_key", asString, "a string"),
    sessionId: context.standard("session_id", asString, "a string"),
    taskId: context.extension("task_id", asString),
    priority: context.standard("priority", asNumber, "a number"),
    ttlMs: context.standard("ttl_ms", (value) => notNegative(asNumber(value)), "a number of milliseconds"),
    stream: context.standard("stream", asBoolean, "true or false"),
    artifactRefs: context.standard("artifact_refs", asStrings, "an array of strings"),
    tags: context.standard("tags", asStrings, "an array of strings"),
    minVersion: context.extension("min_version", asString),
    maxVersion: context.extension("max_version", asString),
  };
}

function writeContext(context: Context, rest: Maybe<Json>): JsonObject {
  return joinMembers(
    [
      ["trace_id", context.traceId],
      ["parent_id", context.parentId],
      ["idempotency_key", context.idempotencyKey],
      ["session_id", context.sessionId],
      ["priority", context.priority],
      ["ttl_ms", context.ttlMs],
      ["stream", context.stream],
      ["artifact_refs", context.artifactRefs],
      ["tags", context.tags],
      ["task_id", context.taskId],
      ["min_version", context.minVersion],
      ["max_version", context.maxVersion],
    ],
    rest,
  );
}

/** Undefined if both the envelope and the document have none. */
function writeMeta(meta: Envelope["meta"], rest: Maybe<Json>): Maybe<JsonObject> {
  if (meta.protocolHint === undefined && meta.retryCount === undefined && !isObject(rest)) return undefined;
  return joinMembers(
    [
      ["protocol_hint", meta.protocolHint],
      ["retry_count", meta.retryCount],
    ],
    rest,
  );
}

/** An empty `meta` is kept, because a document without one is a different document. */
function gather(top: Metadata, context: Metadata, meta: Maybe<Metadata>, metaSource: Maybe<Metadata>): Maybe<Metadata> {
  const keepMeta = meta !== undefined && (hasMembers(meta) || !hasMembers(metaSource ?? {}));
  const extra = joinMembers(
    [
      ["context", hasMembers(context) ? context : undefined],
      ["meta", keepMeta ? meta : undefined],
    ],
    top,
  );
  return hasMembers(extra) ? extra : undefined;
}

function readProofs(value: Json): Maybe<readonly Proof[]> {
  if (!Array.isArray(value)) return undefined;
  const proofs: Proof[] = [];
  for (const item of value as readonly Json[]) {
    const proof = readProof(item);
    if (proof === undefined) return undefined;
    proofs.push(proof);
  }
  return proofs;
}

function readProof(value: Json): Maybe<Proof> {
  if (!isObject(value) || Object.keys(value).length !== 5) return undefined;
  const { scheme, signer, key_id: keyId, signed: signedText, signature: signatureText } = value;
  if (typeof scheme !== "string" || typeof signer !== "string" || typeof keyId !== "string") return undefined;
  const signed = typeof signedText === "string" ? decodeBase64(signedText) : undefined;
  const signature = typeof signatureText === "string" ? decodeBase64(signatureText) : undefined;
  return signed === undefined || signature === undefined ? undefined : { scheme, signer, keyId, signed, signature };
}

function writeProof({ scheme, signer, keyId, signed, signature }: Proof): JsonObject {
  return { scheme, signer, key_id: keyId, signed: encodeBase64(signed), signature: encodeBase64(signature) };
}

function checkInline(envelope: Envelope, inlineBytes: number): void {
  let bytes = 0;
  for (const part of envelope.content) bytes += partBytes(part);
  if (bytes < inlineBytes) return;
  throw new AgentError("too_large", `content has ${bytes} bytes; move its large parts to an artifact store first`, {
    field: "content",
    detail: { bytes: String(bytes), limit: String(inlineBytes) },
  });
}

function notNegative(value: Maybe<number>): Maybe<number> {
  return value !== undefined && value >= 0 ? value : undefined;
}

function required<T>(value: Maybe<T>, field: string): T {
  if (value === undefined || value === null) throw invalid(field, "is missing");
  return value;
}

function hasMembers(object: JsonObject): boolean {
  return Object.keys(object).length > 0;
}
