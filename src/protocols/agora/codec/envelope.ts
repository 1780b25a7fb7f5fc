import { type Context, type Envelope, type Maybe, NO_META, type Part } from "../../../envelope/index.js";
import type { WireMetadata } from "../wire.js";

/** Values for members that a message does not carry. */
export interface MessageFacts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  newId(): string;
  readonly src: string;
  readonly dst: string;
}

/** The members that requests and replies determine differently. */
interface Found extends Pick<Context, "traceId" | "parentId" | "idempotencyKey" | "sessionId" | "taskId"> {
  readonly role: Envelope["role"];
  readonly intent: string;
  readonly content: readonly Part[];
  /** What the message carries beside its body, in the seed's plain form. */
  readonly context?: Maybe<Context>;
}

/** Builds the envelope from the given members, the seed's names, and the rest of the metadata. */
export function envelopeWith(metadata: WireMetadata, carried: Maybe<Envelope>, facts: MessageFacts, found: Found): Envelope {
  const id = metadata.request_id ?? "";
  return {
    id: id === "" ? facts.newId() : id,
    ts: carried === undefined || carried.ts === 0 ? facts.now / 1000 : carried.ts,
    src: metadata.source ?? facts.src,
    dst: metadata.target ?? facts.dst,
    intent: found.intent,
    role: found.role,
    content: found.content,
    context: contextWith(carried?.context ?? found.context, found),
    meta: carried?.meta ?? NO_META,
    references: carried?.references,
    extensions: carried?.extensions,
    metadata: carried?.metadata,
    proofs: carried?.proofs,
    extra: carried?.extra,
  };
}

function contextWith(carried: Maybe<Context>, found: Found): Context {
  return {
    traceId: found.traceId,
    parentId: found.parentId,
    idempotencyKey: found.idempotencyKey,
    sessionId: found.sessionId,
    taskId: found.taskId,
    priority: carried?.priority,
    ttlMs: carried?.ttlMs,
    stream: carried?.stream,
    artifactRefs: carried?.artifactRefs,
    tags: carried?.tags,
    minVersion: carried?.minVersion,
    maxVersion: carried?.maxVersion,
  };
}
