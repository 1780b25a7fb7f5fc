import { artifactRefsOf } from "./artifact-refs.js";
import type { Context, Envelope } from "./envelope.js";
import type { Maybe, Metadata } from "./json.js";
import { type Content, partsOf } from "./part.js";

export interface EnvelopeStart {
  readonly content: Content;
  readonly src: string;
  readonly dst: string;
  readonly context: Context;
  readonly intent?: Maybe<string>;
  readonly protocolHint?: Maybe<string>;
  readonly metadata?: Maybe<Metadata>;
  readonly extensions?: Maybe<readonly string[]>;
}

/** Creates a message. Ids and time are injected. */
export function newEnvelope(start: EnvelopeStart, ids: { now(): number; newId(): string }): Envelope {
  const content = partsOf(start.content);
  const artifactRefs = start.context.artifactRefs ?? artifactRefsOf(content);
  return {
    id: ids.newId(),
    ts: ids.now() / 1000,
    src: start.src,
    dst: start.dst,
    intent: start.intent ?? "",
    role: "user",
    content,
    context: artifactRefs === undefined ? start.context : { ...start.context, artifactRefs },
    meta: { protocolHint: start.protocolHint, retryCount: undefined },
    references: undefined,
    extensions: start.extensions,
    metadata: start.metadata,
    proofs: undefined,
    extra: undefined,
  };
}
