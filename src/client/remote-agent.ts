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
  startCall,
  type Task,
  textOf,
} from "../envelope/index.js";
import type { IdSource } from "../protocols/protocol.js";

export interface SendOptions {
  /** Continues this task. */
  readonly task?: string;
  /** The conversation; also the anchor by which lost work is found again. */
  readonly session?: string;
  /** The same key never starts a second task within the peer's window. */
  readonly key?: string;
  /** `a2a@0.3`: by which protocol and version, for this message only. */
  readonly hint?: string;
  readonly intent?: string;
  readonly priority?: number;
  /** How long the work may take, in milliseconds. Limits the work, not the wait. */
  readonly ttlMs?: number;
  readonly tags?: readonly string[];
  readonly metadata?: Metadata;
  readonly extensions?: readonly string[];
  readonly outputModes?: readonly string[];
  readonly historyLength?: number;
  readonly push?: PushConfig;
  /** W3C trace context to continue; the call that made us do this. */
  readonly traceparent?: string;
  readonly parent?: Envelope;
  /** Stop waiting. Does not stop the work. */
  readonly signal?: AbortSignal;
}

/** A peer as a program sees it, whatever it speaks. */
export interface AgentClient {
  readonly handler: Handler;
  /** The answer's text. A task that failed, or was refused, throws. */
  ask(content: Content, options?: SendOptions): Promise<string>;
  /** The whole answer: a message, or the task when it has ended or asks something. */
  send(content: Content, options?: SendOptions): Promise<EventOf<"send">>;
  /** The task as soon as it exists. */
  start(content: Content, options?: SendOptions): Promise<EventOf<"send">>;
  stream(content: Content, options?: SendOptions): AsyncIterable<EventOf<"send">>;
  getTask(taskId: string, options?: { readonly historyLength?: number; readonly signal?: AbortSignal }): Promise<Task>;
  listTasks(
    query?: Omit<OperationOf<"task.list">, "kind">,
    options?: { readonly signal?: AbortSignal },
  ): Promise<EventOf<"task.list">>;
  cancelTask(taskId: string, options?: { readonly signal?: AbortSignal }): Promise<Task>;
  subscribe(
    taskId: string,
    options?: { readonly after?: string; readonly signal?: AbortSignal },
  ): AsyncIterable<EventOf<"task.subscribe">>;
  /** The webhooks of a task, with how far each was told where the peer says so. Never their secrets. */
  pushes(taskId: string, options?: { readonly signal?: AbortSignal }): Promise<readonly PushConfig[]>;
  /** Tells this webhook what happens to the task from now on; the same id replaces. */
  setPush(taskId: string, webhook: Webhook, options?: { readonly signal?: AbortSignal }): Promise<PushConfig>;
  deletePush(taskId: string, id: string, options?: { readonly signal?: AbortSignal }): Promise<void>;
  extendedCard(): Promise<Card>;
}

/** Where to be told, and what the teller has to show there. */
export interface Webhook extends Pick<PushConfig, "url" | "token" | "authentication"> {
  readonly id?: string;
}

export interface AgentClientStart {
  readonly handler: Handler;
  /** Who speaks, and to whom: names for the envelope. */
  readonly src: string;
  dst(): string;
  readonly ids: IdSource;
  readonly onLoss?: Maybe<LossSink>;
}

/** The convenience around a handler. Everything here is composition: the handler does the work. */
export function agentClient({ handler, src, dst, ids, onLoss }: AgentClientStart): AgentClient {
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
          stream: stream ? true : undefined,
          tags: options.tags,
        },
      },
      ids,
    );

  const callFor = ({ signal, traceparent }: { readonly signal?: AbortSignal; readonly traceparent?: string }): Call =>
    startCall({
      cancel: signal === undefined ? undefined : cancelFrom(signal),
      parameters: traceparent === undefined ? undefined : { traceparent },
      reportLoss: onLoss,
    });

  function sending(content: Content, options: SendOptions, delivery: OperationOf<"send">["delivery"]): Reply {
    const envelope = envelopeFor(content, options, delivery === "stream");
    const { historyLength, outputModes, push } = options;
    const operation: Operation = { kind: "send", envelope, delivery, task: "auto", historyLength, outputModes, push };
    return handler(operation, callFor(options));
  }

  return {
    handler,
    async ask(content, options = {}) {
      return textOfAnswer(await one<"send">(sending(content, options, "answer")));
    },
    send: (content, options = {}) => one<"send">(sending(content, options, "answer")),
    start: (content, options = {}) => one<"send">(sending(content, options, "accepted")),
    stream: (content, options = {}) => many<"send">(sending(content, options, "stream")),
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
      // A cursor is whatever an earlier event of this task carried.
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

/** One answer of the right kind: `checkAnswers` around every client half has refused all others. */
async function one<K extends Operation["kind"]>(reply: Reply): Promise<EventOf<K>> {
  if (isPromise(reply)) return (await reply) as EventOf<K>;
  throw new AgentError("internal", "one answer was expected and a stream came");
}

function many<K extends Operation["kind"]>(reply: Reply): AsyncIterable<EventOf<K>> {
  return (isPromise(reply) ? onlyOne(reply) : reply) as AsyncIterable<EventOf<K>>;
}

async function* onlyOne(reply: Promise<AgentEvent>): AsyncGenerator<AgentEvent, void, void> {
  yield await reply;
}

/** The text of an answer; a task that did not end well is an error here, because its text would pass for an answer. */
export function textOfAnswer(event: EventOf<"send">): string {
  if (event.kind === "message") return textOf(event.message.content);
  if (event.kind !== "task") return "";
  const { status } = event.task;
  if (status.state === "failed" || status.state === "rejected" || status.state === "canceled") {
    const said = textOf(status.message?.content ?? []);
    const why = said === "" && status.state === "failed" ? (status.error?.message ?? "") : said;
    const code =
      status.state === "failed" ? (status.error?.code ?? "internal") : status.state === "canceled" ? "cancelled" : "forbidden";
    throw new AgentError(code, `the task was ${status.state}${why === "" ? "" : `: ${why}`}`, {
      detail: { taskId: event.task.id },
    });
  }
  return answerText(event.task);
}
