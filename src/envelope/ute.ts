import { decodeBase64, encodeBase64 } from "./base64.js";
import type { Context, Envelope, Proof } from "./envelope.js";
import { AgentError } from "./error.js";
import { isObject, type Json, type JsonObject, type Maybe, type Metadata } from "./json.js";
import { jsonText, partBytes } from "./part-bytes.js";
import { invalid, readContent, writeContent } from "./ute-content.js";
import { asBoolean, asCount, asNumber, asObject, asString, asStrings, joinMembers, MemberReader } from "./ute-members.js";

/** The envelope as JSON, with the seed's names: for logs, files, recordings and the inspector. */

/** Content below this many bytes travels inside the envelope; what is larger travels by `artifact_refs`. */
export const INLINE_CONTENT_BYTES = 1_000_000;

/** How an envelope is written. */
export interface WriteUteOptions {
  /** Content of this many bytes or more is refused; `INLINE_CONTENT_BYTES` if not given. */
  readonly inlineBytes?: number;
}

/**
 * A UTE document as an envelope. Members without a name of ours, and known ones that hold null or a default, are kept in
 * `extra`: at its top level those of the document, below `extra.context` and `extra.meta` those of the two groups.
 */
export function readUte(document: unknown): Envelope {
  const top = new MemberReader(document, "");
  const id = top.seed("id", asString, "a string") ?? "";
  const ts = top.seed("ts", asNumber, "a number of seconds") ?? 0;
  const intent = top.seed("intent", asString, "a string") ?? "";
  if (id === "") top.leave("id");
  if (ts === 0) top.leave("ts");
  if (intent === "") top.leave("intent");
  const src = required(top.seed("src", asString, "a string"), "src");
  const dst = required(top.seed("dst", asString, "a string"), "dst");
  const content = readContent(required(top.take("content"), "content"));
  const context = new MemberReader(top.take("context"), "context");
  const metaSource = top.seed("meta", asObject, "an object");
  const meta = metaSource && new MemberReader(metaSource, "meta");
  const agent = top.ours("role", (role) => (role === "agent" ? role : undefined));
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
      protocolHint: meta?.seed("protocol_hint", asString, "a string"),
      retryCount: meta?.seed("retry_count", asCount, "a whole number"),
    },
    references: top.ours("references", asStrings),
    extensions: top.ours("extensions", asStrings),
    metadata: top.ours("metadata", asObject),
    proofs: top.ours("proofs", readProofs),
    extra: gather(top.rest(), context.rest(), meta?.rest(), metaSource),
  };
}

/** The document of an envelope, in the seed's order. Throws `too_large` when its content should travel by reference. */
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

/** A UTE document as text. Whoever reads text from outside bounds its length and depth first. */
export function parseUte(text: string): Envelope {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (thrown) {
    throw new AgentError("decode", "the envelope is not JSON", { cause: thrown });
  }
  return readUte(document);
}

/** One line of JSON. */
export function formatUte(envelope: Envelope, options: WriteUteOptions = {}): string {
  return jsonText(writeUte(envelope, options));
}

function readContext(context: MemberReader): Context {
  return {
    traceId: context.seed("trace_id", asString, "a string"),
    parentId: context.seed("parent_id", asString, "a string"),
    idempotencyKey: context.seed("idempotency_key", asString, "a string"),
    sessionId: context.seed("session_id", asString, "a string"),
    taskId: context.ours("task_id", asString),
    priority: context.seed("priority", asNumber, "a number"),
    ttlMs: context.seed("ttl_ms", (value) => notNegative(asNumber(value)), "a number of milliseconds"),
    stream: context.seed("stream", asBoolean, "true or false"),
    artifactRefs: context.seed("artifact_refs", asStrings, "an array of strings"),
    tags: context.seed("tags", asStrings, "an array of strings"),
    minVersion: context.ours("min_version", asString),
    maxVersion: context.ours("max_version", asString),
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

/** Undefined when there is nothing to say and the document said nothing. */
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

/** An empty `meta` is kept as such, because a document without one is another document. */
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
