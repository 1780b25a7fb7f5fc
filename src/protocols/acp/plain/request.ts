import {
  type Envelope,
  encodeBase64,
  isObject,
  type Json,
  type JsonObject,
  type LossSink,
  type OperationOf,
  type Part,
  textOf,
  writeUte,
} from "../../../envelope/index.js";

/** The seed's request (Table 8, G.7). Members of `context` other than those of the table keep the names of the envelope. */
export function encodePlainRequest(
  { envelope, delivery }: { readonly envelope: Envelope; readonly delivery: OperationOf<"send">["delivery"] },
  receiver: string,
  reportLoss: LossSink,
): JsonObject {
  const { id, ts, src, context, meta, metadata } = envelope;
  reportMemberLosses(envelope, reportLoss);
  const { context: all } = writeUte({ ...envelope, content: [], extra: undefined });
  const { trace_id, idempotency_key, session_id, task_id, ...rest } = isObject(all) ? all : {};
  return {
    id,
    type: "request",
    sender: src,
    receiver,
    ...encodeContent(envelope.content, reportLoss),
    timestamp: ts,
    correlation_id: context.idempotencyKey ?? id,
    session_id,
    run_id: task_id,
    stream: delivery === "stream",
    ...(delivery === "accepted" ? { mode: "async" satisfies Json } : undefined),
    metadata: { ...metadata, trace_id, idempotency_key, protocol_hint: meta.protocolHint },
    context: rest,
  };
}

/** The plain text, or a single object, in `payload`; anything else as parts of the released protocol beside it. */
function encodeContent(content: readonly Part[], reportLoss: LossSink): JsonObject {
  const [only] = content;
  if (content.length === 1 && only !== undefined && isBare(only)) {
    if (only.kind === "text") return { payload: { text: only.text } };
    if (only.kind === "data" && isObject(only.data) && !isReadOtherwise(only.data)) return { payload: only.data };
  }
  const text = textOf(content);
  const parts = content.map((part, index) => encodePart(part, `message.parts[${index}]`, reportLoss));
  return { payload: text === "" ? {} : { text }, messages: [{ role: "user", parts }] };
}

function isBare({ name, mediaType, metadata }: Part): boolean {
  return name === undefined && mediaType === undefined && metadata === undefined;
}

/** Readers take the first of these members for the text of the message. */
function isReadOtherwise(data: JsonObject): boolean {
  return Object.keys(data).length === 0 || ["text", "content", "question"].some((name) => typeof data[name] === "string");
}

const BYTES = "application/octet-stream";

function encodePart(part: Part, path: string, reportLoss: LossSink): JsonObject {
  const { name } = part;
  if (part.metadata !== undefined)
    reportLoss({ protocol: "acp", path: `${path}.metadata`, valueKind: "object", reason: "the plain form has no member for it" });
  if (part.mediaType === BYTES)
    reportLoss({ protocol: "acp", path: `${path}.mediaType`, valueKind: "string", reason: "the plain form reads it as none" });
  switch (part.kind) {
    case "text":
      return { name, content_type: part.mediaType ?? "text/plain", content: part.text };
    case "data":
      return { name, content_type: part.mediaType ?? "application/json", content: JSON.stringify(part.data) };
    case "raw": {
      const content_type = part.mediaType ?? BYTES;
      return { name, content_type, content: encodeBase64(part.bytes), content_encoding: "base64" };
    }
    case "url":
      return { name, content_type: part.mediaType ?? BYTES, content_url: part.url };
    default:
      return part satisfies never;
  }
}

const UNCARRIED = ["references", "extensions", "extra"] as const;

function reportMemberLosses(envelope: Envelope, reportLoss: LossSink): void {
  const report = (path: string, value: unknown): void =>
    reportLoss({
      protocol: "acp",
      path: `message.${path}`,
      valueKind: typeof value,
      reason: "the plain form has no member for it",
    });
  for (const name of UNCARRIED) if (envelope[name] !== undefined) report(name, envelope[name]);
  if (envelope.intent !== "") report("intent", envelope.intent);
  if (envelope.meta.retryCount !== undefined) report("meta.retryCount", envelope.meta.retryCount);
}
