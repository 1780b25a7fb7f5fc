import {
  AgentError,
  type AgentEvent,
  type Call,
  type Content,
  isProtected,
  type Json,
  type Maybe,
  newEnvelope,
  type OperationOf,
  type Part,
  partsOf,
  textOf,
} from "../../../envelope/index.js";
import { answerTo, messageIn } from "../client/answer.js";
import { type ClientDocument, type ClientDocuments, documentOf } from "../client/documents.js";
import type { Wire } from "../client/post.js";
import { unsuitable } from "../errors.js";
import { NEGOTIATION } from "../wire.js";
import { SenderMemory } from "./memory.js";
import { negotiate } from "./negotiate.js";
import {
  type ResolvedSenderOptions,
  SENDER_THRESHOLDS,
  type SenderRoutine,
  type SenderTask,
  type SenderThresholds,
} from "./options.js";
import { pickDocument } from "./pick.js";
import { type ConversationForm, SenderConversation } from "./sender-conversation.js";
import { byDocument, naturalLanguage, type Wanted } from "./write.js";

/** Sends known tasks by the cheapest means: a routine, else a document, else natural language. */
export interface Sender {
  /** Messages of a session and answers to a question are not handled by the sender. */
  takes(operation: OperationOf<"send">): boolean;
  run(operation: OperationOf<"send">, call: Call): Promise<AgentEvent>;
}

export function senderFor(wire: Wire, documents: ClientDocuments, options: ResolvedSenderOptions): Sender {
  const tasks = new Map(options.tasks.map((task) => [task.id, task]));
  const doer = new TaskDoer(wire, documents, options);
  return {
    takes: ({ envelope, delivery }) =>
      delivery !== "accepted" &&
      isPlain(envelope.content) &&
      // It writes the content anew, which a signature does not survive.
      !isProtected(envelope) &&
      envelope.context.sessionId === undefined &&
      envelope.context.taskId === undefined &&
      tasks.has(envelope.intent),
    async run(operation, call) {
      const task = tasks.get(operation.envelope.intent);
      if (task === undefined) throw new AgentError("internal", "unknown task");
      return doer.do({ task, data: dataOf(operation), operation, call });
    },
  };
}

/** Files and links do not fit into a text body, so the sender does not handle them. */
function isPlain(content: readonly Part[]): boolean {
  return (
    content.length > 0 && (content.every(({ kind }) => kind === "text") || (content.length === 1 && content[0]?.kind === "data"))
  );
}

/** The single data part of a message, or else its text. */
function dataOf({ envelope }: OperationOf<"send">): Json {
  const [only] = envelope.content;
  return envelope.content.length === 1 && only?.kind === "data" ? only.data : textOf(envelope.content);
}

interface Job extends Wanted {
  readonly operation: OperationOf<"send">;
  readonly call: Call;
}

const NATURAL_LANGUAGE: ConversationForm = { hash: null, sources: [], multiround: true };
const ABOUT_DOCUMENTS: ConversationForm = { hash: NEGOTIATION, sources: null, multiround: true };

/** The decision of the Python library (§6.2 of its flow), with registered instead of generated routines. */
class TaskDoer {
  readonly #wire: Wire;
  readonly #documents: ClientDocuments;
  readonly #options: ResolvedSenderOptions;
  readonly #thresholds: SenderThresholds;
  readonly #memory: SenderMemory;
  #routines: Maybe<Promise<ReadonlyMap<string, SenderRoutine>>>;

  constructor(wire: Wire, documents: ClientDocuments, options: ResolvedSenderOptions) {
    this.#wire = wire;
    this.#documents = documents;
    this.#options = options;
    this.#thresholds = { ...SENDER_THRESHOLDS, ...options.thresholds };
    this.#memory = new SenderMemory(options.records, wire.peer.url);
  }

  async do(job: Job): Promise<AgentEvent> {
    const count = await this.#memory.countTask(job.task.id);
    const document = await this.#documentFor(job, count);
    if (document === undefined) return this.#inNaturalLanguage(job);
    try {
      return await this.#byDocument(job, document);
    } catch (thrown) {
      if (!isRejection(thrown, document.hash)) throw thrown;
      // Rejected before execution, so the task can be sent again in natural language.
      await this.#memory.reject(job.task.id, document.hash);
      return this.#inNaturalLanguage(job);
    }
  }

  async #documentFor(job: Job, count: number): Promise<Maybe<ClientDocument>> {
    const { task } = job;
    const { protocol, negotiation } = this.#thresholds;
    const agreed = await this.#memory.agreed(task.id);
    if (agreed !== undefined) return documentOf(agreed, undefined);
    const picked = count > protocol ? await this.#pick(task) : undefined;
    if (picked !== undefined) return this.#settle(task, picked);
    if (count <= negotiation || !(await this.#mayNegotiate(task, count))) return undefined;
    const text = await this.#negotiate(job, count);
    return text === undefined ? undefined : this.#settle(task, await documentOf(text, undefined));
  }

  async #settle(task: SenderTask, document: ClientDocument): Promise<ClientDocument> {
    await this.#memory.agree(task.id, document.text);
    return document;
  }

  async #pick(task: SenderTask): Promise<Maybe<ClientDocument>> {
    const all = await this.#fresh(await this.#documents.all());
    const routines = await this.#routinesFor(task);
    const own = all.filter(({ skill }) => skill === undefined);
    return pickDocument({
      task,
      listed: all.filter(({ skill }) => skill !== undefined),
      routines: new Set(routines.keys()),
      known: new Set(own.map(({ hash }) => hash)),
      reads: this.#options.model !== undefined,
    });
  }

  /** A failed negotiation is retried only after as many further tasks again. */
  async #mayNegotiate(task: SenderTask, count: number): Promise<boolean> {
    const failedAt = await this.#memory.failedAt(task.id);
    return failedAt === 0 || count > failedAt + this.#thresholds.negotiation;
  }

  async #negotiate({ task, operation, call }: Job, count: number): Promise<Maybe<string>> {
    const { model } = this.#options;
    const routines = [...(await this.#routinesFor(task)).values()];
    const offers = await this.#fresh(await Promise.all(routines.map(({ document }) => documentOf(document, undefined))));
    const { src, dst, context } = operation.envelope;
    // A separate message: only the trace of the task is carried over.
    const envelope = newEnvelope({ content: "", src, dst, context: { traceId: context.traceId } }, this.#wire.ids);
    const conversation = new SenderConversation(this.#wire, ABOUT_DOCUMENTS, envelope, call);
    const send = (body: string): Promise<string> => conversation.send(body);
    let text: Maybe<string>;
    try {
      const described = offers.map(({ hash, name, description, text: document }) => ({ hash, name, description, document }));
      text = await negotiate({ task, offers: described, model, send, cancel: call.cancel });
    } catch (thrown) {
      if (call.cancel.reason !== undefined) throw thrown;
      // Negotiation is optional: continue in natural language.
    } finally {
      await conversation.close();
    }
    if (text === undefined) await this.#memory.fail(task.id, count);
    return text;
  }

  async #inNaturalLanguage(job: Job): Promise<AgentEvent> {
    const { model } = this.#options;
    return this.#converse(NATURAL_LANGUAGE, job, async (conversation) => {
      await conversation.send(await naturalLanguage(job, model, job.call.cancel));
      return undefined;
    });
  }

  async #byDocument(job: Job, document: ClientDocument): Promise<AgentEvent> {
    const { hash, sources, multiround } = document;
    const uses = await this.#memory.countUse(hash);
    const routine = (await this.#routinesFor(job.task)).get(hash);
    const { model } = this.#options;
    return this.#converse({ hash, sources, multiround }, job, async (conversation) => {
      if (routine !== undefined && (uses > this.#thresholds.implementation || model === undefined)) {
        const done = await runRoutine(routine, job, conversation, model !== undefined);
        if (done !== undefined) return done;
      }
      if (model === undefined)
        throw new AgentError("unsupported", "no routine or language model on this side can follow the document", { sent: "no" });
      await conversation.send(await byDocument(job, document, model, job.call.cancel));
      return undefined;
    });
  }

  /** The last reply is the answer, unless the routine returned one. */
  async #converse(
    form: ConversationForm,
    job: Job,
    exchange: (conversation: SenderConversation) => Promise<Maybe<Content>>,
  ): Promise<AgentEvent> {
    const { operation, call } = job;
    const { envelope } = operation;
    const conversation = new SenderConversation(this.#wire, form, envelope, call);
    try {
      const made = await exchange(conversation);
      if (conversation.last === undefined)
        throw new AgentError("internal", "the routine ended without sending a message to the peer");
      const replyContext = { wire: this.#wire, call, envelope };
      if (made === undefined) return answerTo(conversation.last, replyContext);
      return { kind: "message", message: { ...messageIn(conversation.last.reply, replyContext), content: partsOf(made) } };
    } finally {
      await conversation.close();
    }
  }

  async #routinesFor(task: SenderTask): Promise<ReadonlyMap<string, SenderRoutine>> {
    this.#routines ??= byHash(this.#options.routines ?? []);
    const all = await this.#routines;
    return new Map([...all].filter(([, routine]) => routine.task === task.id));
  }

  async #fresh(documents: readonly ClientDocument[]): Promise<readonly ClientDocument[]> {
    const rejected = await Promise.all(documents.map(({ hash }) => this.#memory.isRejected(hash)));
    return documents.filter((_document, index) => rejected[index] === false);
  }
}

async function byHash(routines: readonly SenderRoutine[]): Promise<ReadonlyMap<string, SenderRoutine>> {
  const hashed = await Promise.all(
    routines.map(async (routine) => [(await documentOf(routine.document, undefined)).hash, routine] as const),
  );
  return new Map(hashed);
}

/**
 * Undefined if the routine failed and the model may take over: only while the peer has received nothing to act on, so that no
 * task is done twice.
 */
async function runRoutine(
  routine: SenderRoutine,
  { data, call }: Job,
  conversation: SenderConversation,
  orElse: boolean,
): Promise<Maybe<Content>> {
  try {
    return await routine.send(data, (body) => conversation.send(body), call.cancel);
  } catch (thrown) {
    if (conversation.started || !orElse) throw AgentError.from(thrown);
    return undefined;
  }
}

/** Recognizes the rejection of a document by the library and by the specification. */
function isRejection(thrown: unknown, hash: string): boolean {
  if (!(thrown instanceof AgentError) || thrown.code !== "unsupported") return false;
  return thrown.facts.field === "protocolHash" || thrown.message === unsuitable(hash).message;
}
