import { cancelFrom } from "../envelope/cancel.js";
import {
  AgentError,
  type AgentEvent,
  answerText,
  type Call,
  type Card,
  type Content,
  type Cursor,
  type Envelope,
  type EventOf,
  floorOf,
  type Handler,
  isPromise,
  type LossSink,
  type Maybe,
  type Metadata,
  newEnvelope,
  type Operation,
  type OperationOf,
  type PushConfig,
  type Reply,
  type Requirement,
  startCall,
  type Task,
  textOf,
} from "../envelope/index.js";
import type { IdSource } from "../protocols/protocol.js";

/** Options of one message. */
export interface SendOptions {
  /** Continues this task. */
  readonly task?: string;
  /** The conversation. Interrupted work is found again by it. */
  readonly session?: string;
  /** The idempotency key: the same key never starts a second task within the peer's window. */
  readonly key?: string;
  /** The protocol and version for this message only: `a2a@0.3`. */
  readonly hint?: string;
  /** The skill the message is for, by id. */
  readonly intent?: string;
  /** Order in queues: higher first. Default: 0. */
  readonly priority?: number;
  /** The time limit of the work, in milliseconds; it does not limit the wait. */
  readonly ttlMs?: number;
  /** Free labels. */
  readonly tags?: readonly string[];
  /** Tells the agent that the answer is read as a stream. Default: true for `stream`, else not said. */
  readonly stream?: boolean;
  /**
   * The lowest and the highest version for this message, of the protocol that `hint` names, else of the one in use. An interface of
   * that protocol in between is used, or nothing is sent.
   */
  readonly minVersion?: string;
  readonly maxVersion?: string;
  /** Application metadata of the message. */
  readonly metadata?: Metadata;
  /** URIs of the extensions the message uses. */
  readonly extensions?: readonly string[];
  /** Accepted media types of the answer. Default: any. */
  readonly outputModes?: readonly string[];
  /** Most messages of history in the answer. Default: the peer's. */
  readonly historyLength?: number;
  /** A webhook to register with the task. */
  readonly push?: PushConfig;
  /** The W3C trace context to continue. */
  readonly traceparent?: string;
  /** The message that caused this one. */
  readonly parent?: Envelope;
  /** The security that the message must have; without it nothing is sent. Default: what the connection requires. */
  readonly require?: readonly Requirement[];
  /** Stops the wait, not the work. */
  readonly signal?: AbortSignal;
}

/** The client of one agent, independent of its protocol. */
export interface AgentClient {
  /** The operations underneath: the same peer as a `Handler`. */
  readonly handler: Handler;
  /** The text of the answer. Throws for a task that failed, was rejected or was canceled. */
  ask(content: Content, options?: SendOptions): Promise<string>;
  /** The complete answer: a message, or the task once it has ended or requires input. */
  send(content: Content, options?: SendOptions): Promise<EventOf<"send">>;
  /** Returns the task as soon as it exists. */
  start(content: Content, options?: SendOptions): Promise<EventOf<"send">>;
  /** Yields the events of the answer as they arrive. */
  stream(content: Content, options?: SendOptions): AsyncIterable<EventOf<"send">>;
  /** Returns the current state of a task. */
  getTask(taskId: string, options?: { readonly historyLength?: number; readonly signal?: AbortSignal }): Promise<Task>;
  /** Returns one page of the caller's tasks. */
  listTasks(
    query?: Omit<OperationOf<"task.list">, "kind">,
    options?: { readonly signal?: AbortSignal },
  ): Promise<EventOf<"task.list">>;
  /** Requests cancellation and returns the task. */
  cancelTask(taskId: string, options?: { readonly signal?: AbortSignal }): Promise<Task>;
  /** Yields the events of a task, after the given position where the peer can resume. */
  subscribe(
    taskId: string,
    options?: { readonly after?: string; readonly signal?: AbortSignal },
  ): AsyncIterable<EventOf<"task.subscribe">>;
  /** The push configurations of a task, with their delivery progress where the peer reports it. Never their secrets. */
  pushes(taskId: string, options?: { readonly signal?: AbortSignal }): Promise<readonly PushConfig[]>;
  /** Registers a webhook for the events of the task from now on; the same id replaces. */
  setPush(taskId: string, webhook: Webhook, options?: { readonly signal?: AbortSignal }): Promise<PushConfig>;
  /** Removes a webhook. */
  deletePush(taskId: string, id: string, options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Returns the card for authenticated callers. */
  extendedCard(): Promise<Card>;
}

/** A webhook address, and what its sender must present there. */
export interface Webhook extends Pick<PushConfig, "url" | "token" | "authentication"> {
  /** Identifies the webhook within the task. Default: chosen by the peer. */
  readonly id?: string;
}

/** What an `AgentClient` is made from. */
export interface AgentClientOptions {
  readonly handler: Handler;
  /** The source and destination names of envelopes. */
  readonly src: string;
  dst(): string;
  readonly ids: IdSource;
  readonly onLoss?: Maybe<LossSink>;
}

/** The methods of a client, built on a handler. */
export function agentClient({ handler, src, dst, ids, onLoss }: AgentClientOptions): AgentClient {
  const envelopeFor = (content: Content, options: SendOptions, stream: boolean): Envelope =>
    newEnvelope(
      {
        content,
        src,
        dst: dst(),
        intent: options.intent,
        protocolHint: options.hint,
        metadata: options.metadata,
        extensions: options.extensions,
        context: {
          traceId: options.parent?.context.traceId,
          parentId: options.parent?.id,
          idempotencyKey: options.key,
          sessionId: options.session,
          taskId: options.task,
          priority: options.priority,
          ttlMs: options.ttlMs,
          stream: options.stream ?? (stream ? true : undefined),
          tags: options.tags,
          minVersion: options.minVersion,
          maxVersion: options.maxVersion,
        },
      },
      ids,
    );

  const callFor = ({ signal, traceparent, require }: Pick<SendOptions, "signal" | "traceparent" | "require">): Call =>
    startCall({
      floor: require && floorOf(require),
      cancel: signal === undefined ? undefined : cancelFrom(signal),
      parameters: traceparent === undefined ? undefined : { traceparent },
      reportLoss: onLoss,
    });

  function sendWith(content: Content, options: SendOptions, delivery: OperationOf<"send">["delivery"]): Reply {
    const envelope = envelopeFor(content, options, delivery === "stream");
    const { historyLength, outputModes, push } = options;
    const operation: Operation = { kind: "send", envelope, delivery, task: "auto", historyLength, outputModes, push };
    return handler(operation, callFor(options));
  }

  return {
    handler,
    async ask(content, options = {}) {
      return textOfAnswer(await one<"send">(sendWith(content, options, "answer")));
    },
    send: (content, options = {}) => one<"send">(sendWith(content, options, "answer")),
    start: (content, options = {}) => one<"send">(sendWith(content, options, "accepted")),
    stream: (content, options = {}) => many<"send">(sendWith(content, options, "stream")),
    async getTask(taskId, options = {}) {
      return (
        await one<"task.get">(handler({ kind: "task.get", taskId, historyLength: options.historyLength }, callFor(options)))
      ).task;
    },
    listTasks: (query = {}, options = {}) => one<"task.list">(handler({ kind: "task.list", ...query }, callFor(options))),
    async cancelTask(taskId, options = {}) {
      return (await one<"task.cancel">(handler({ kind: "task.cancel", taskId }, callFor(options)))).task;
    },
    subscribe(taskId, options = {}) {
      // A cursor is opaque: whatever an earlier event of this task carried.
      const after = options.after as Maybe<Cursor>;
      return many<"task.subscribe">(handler({ kind: "task.subscribe", taskId, after, follow: true }, callFor(options)));
    },
    async pushes(taskId, options = {}) {
      return (await one<"push.list">(handler({ kind: "push.list", taskId }, callFor(options)))).configs;
    },
    async setPush(taskId, { id = "", url, token, authentication }, options = {}) {
      const config = { taskId, id, url, token, authentication };
      return (await one<"push.set">(handler({ kind: "push.set", config }, callFor(options)))).config;
    },
    async deletePush(taskId, id, options = {}) {
      await one<"push.delete">(handler({ kind: "push.delete", taskId, id }, callFor(options)));
    },
    async extendedCard() {
      return (await one<"card">(handler({ kind: "card", extended: true }, callFor({})))).card;
    },
  };
}

/** One answer of the right kind: `checkAnswers` has rejected all others. */
async function one<K extends Operation["kind"]>(reply: Reply): Promise<EventOf<K>> {
  if (isPromise(reply)) return (await reply) as EventOf<K>;
  throw new AgentError("internal", "expected one answer and received a stream");
}

function many<K extends Operation["kind"]>(reply: Reply): AsyncIterable<EventOf<K>> {
  return (isPromise(reply) ? onlyOne(reply) : reply) as AsyncIterable<EventOf<K>>;
}

async function* onlyOne(reply: Promise<AgentEvent>): AsyncGenerator<AgentEvent, void, void> {
  yield await reply;
}

/** The text of an answer. Throws for an unsuccessful task, whose text is not an answer. */
export function textOfAnswer(event: EventOf<"send">): string {
  if (event.kind === "message") return textOf(event.message.content);
  if (event.kind !== "task") return "";
  const { status } = event.task;
  if (status.state === "failed" || status.state === "rejected" || status.state === "canceled") {
    const text = textOf(status.message?.content ?? []);
    const why = text === "" && status.state === "failed" ? (status.error?.message ?? "") : text;
    const code =
      status.state === "failed" ? (status.error?.code ?? "internal") : status.state === "canceled" ? "cancelled" : "forbidden";
    throw new AgentError(code, `the task was ${status.state}${why === "" ? "" : `: ${why}`}`, {
      detail: { taskId: event.task.id },
    });
  }
  return answerText(event.task);
}
