import {
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

/** Where an agent's words go, and what they answer. */
export interface Conversation {
  readonly agent: string;
  readonly heard: Envelope;
  readonly sessionId: string;
  readonly taskId: Maybe<string>;
}

/** What the agent says, as a message to whoever spoke last. */
export function agentMessage({ agent, heard, sessionId, taskId }: Conversation, content: Content, ids: IdSource): Envelope {
  return {
    id: ids.newId(),
    ts: ids.now() / 1000,
    src: agent,
    dst: heard.src,
    intent: heard.intent,
    role: "agent",
    content: partsOf(content),
    context: { traceId: heard.context.traceId, parentId: heard.id, sessionId, taskId },
    meta: NO_META,
  };
}

/** What somebody else has said, as said here: to whom and in which conversation is ours to say, the rest is theirs. */
export function relayedMessage({ agent, heard, sessionId, taskId }: Conversation, said: Envelope): Envelope {
  return {
    ...said,
    src: agent,
    dst: heard.src,
    role: "agent",
    context: { ...said.context, traceId: heard.context.traceId, parentId: heard.id, sessionId, taskId },
  };
}

/** The message as the agent reads it; its text is put together when somebody looks. */
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
