import {
  artifactRefsOf,
  type Content,
  type Envelope,
  type IdSource,
  type Maybe,
  type Metadata,
  NO_META,
  type Part,
  type Proof,
  partsOf,
  textOf,
} from "../envelope/index.js";
import type { IncomingMessage } from "./agent-function.js";

/** Addressing of an agent's messages. */
export interface Conversation {
  readonly agent: string;
  readonly request: Envelope;
  readonly sessionId: string;
  readonly taskId: Maybe<string>;
}

/** A message from the agent in reply to the request. */
export function agentMessage({ agent, request, sessionId, taskId }: Conversation, content: Content, ids: IdSource): Envelope {
  const parts = partsOf(content);
  const artifactRefs = artifactRefsOf(parts);
  const context = { traceId: request.context.traceId, parentId: request.id, sessionId, taskId };
  return {
    id: ids.newId(),
    ts: ids.now() / 1000,
    src: agent,
    dst: request.src,
    intent: request.intent,
    role: "agent",
    content: parts,
    context: artifactRefs === undefined ? context : { ...context, artifactRefs },
    meta: NO_META,
  };
}

/** An upstream's message with this agent's addressing; the rest is unchanged. */
export function relayedMessage({ agent, request, sessionId, taskId }: Conversation, original: Envelope): Envelope {
  return {
    ...original,
    src: agent,
    dst: request.src,
    role: "agent",
    context: { ...original.context, traceId: request.context.traceId, parentId: request.id, sessionId, taskId },
  };
}

/** The message as the agent reads it; `text` is computed on access. */
export class InboundMessage implements IncomingMessage {
  readonly id: string;
  readonly ts: number;
  readonly src: string;
  readonly dst: string;
  readonly intent: string;
  readonly role: "user" | "agent";
  readonly content: readonly Part[];
  readonly context: Envelope["context"];
  readonly meta: Envelope["meta"];
  readonly references: Maybe<readonly string[]>;
  readonly extensions: Maybe<readonly string[]>;
  readonly metadata: Maybe<Metadata>;
  readonly proofs: Maybe<readonly Proof[]>;
  readonly extra: Maybe<Metadata>;

  constructor(envelope: Envelope) {
    this.id = envelope.id;
    this.ts = envelope.ts;
    this.src = envelope.src;
    this.dst = envelope.dst;
    this.intent = envelope.intent;
    this.role = envelope.role;
    this.content = envelope.content;
    this.context = envelope.context;
    this.meta = envelope.meta;
    this.references = envelope.references;
    this.extensions = envelope.extensions;
    this.metadata = envelope.metadata;
    this.proofs = envelope.proofs;
    this.extra = envelope.extra;
  }

  get text(): string {
    return textOf(this.content);
  }
}
