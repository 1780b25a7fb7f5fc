import {
  AgentError,
  type AgentEvent,
  type Call,
  type Context,
  type Handler,
  type Metadata,
  type OperationOf,
  type Reply,
  textOf,
  textPart,
} from "../../src/envelope/index.js";

/** Helpers for tests of ordering policies. */

export interface SendStart {
  readonly context?: Context;
  readonly metadata?: Metadata;
  readonly delivery?: OperationOf<"send">["delivery"];
}

export function sendOf(text: string, { context = { sessionId: "s" }, metadata, delivery = "answer" }: SendStart = {}) {
  const envelope = { id: text, ts: 1, src: "a", dst: "b", intent: "", role: "user", content: [textPart(text)] } as const;
  const operation: OperationOf<"send"> = {
    kind: "send",
    envelope: { ...envelope, context, meta: {}, metadata },
    delivery,
    task: "auto",
  };
  return operation;
}

export const working: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "working", at: 1 } };
export const done: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "completed", at: 2 } };

interface Open {
  readonly call: Call;
  resolve(event: AgentEvent): void;
  reject(thrown: unknown): void;
  first(event: AgentEvent): void;
}

/** An agent whose answers the test sends, message by message. */
export class ByHand {
  /** The texts of the messages in the order in which they started. */
  readonly begun: string[] = [];
  readonly operations: OperationOf<"send">[] = [];
  readonly #open = new Map<string, Open>();

  readonly handler: Handler = (operation, call) => {
    if (operation.kind !== "send") return Promise.reject(new AgentError("internal", `asked for ${operation.kind}`));
    const text = textOf(operation.envelope.content);
    this.begun.push(text);
    this.operations.push(operation);
    return operation.delivery === "stream" ? this.#many(text, call) : this.#one(text, call);
  };

  callOf(text: string): Call {
    return this.#of(text).call;
  }

  /** The first event of a stream. */
  accept(text: string): void {
    this.#of(text).first(working);
  }

  answer(text: string): void {
    this.#of(text).resolve(done);
  }

  fail(text: string, thrown: unknown): void {
    this.#of(text).reject(thrown);
  }

  #of(text: string): Open {
    const open = this.#open.get(text);
    if (open === undefined) throw new Error(`${text} has not begun`);
    return open;
  }

  #one(text: string, call: Call): Promise<AgentEvent> {
    return new Promise((resolve, reject) => this.#open.set(text, { call, resolve, reject, first: resolve }));
  }

  async *#many(text: string, call: Call): AsyncGenerator<AgentEvent> {
    const first = new Promise<AgentEvent>((resolve, reject) =>
      this.#open.set(text, { call, first: resolve, reject, resolve: () => undefined }),
    );
    yield await first;
    yield await new Promise<AgentEvent>((resolve, reject) => this.#open.set(text, { call, first: resolve, reject, resolve }));
  }
}

export function iterate(reply: Reply): AsyncIterator<AgentEvent> {
  return (reply as AsyncIterable<AgentEvent>)[Symbol.asyncIterator](); // a stream was requested
}

/** The error of a reply; undefined if it succeeded. */
export async function failureOf(reply: Reply): Promise<AgentError | undefined> {
  try {
    await (reply as Promise<AgentEvent>); // one answer was requested
    return undefined;
  } catch (thrown) {
    return AgentError.from(thrown);
  }
}

/** Resolves after every pending promise chain has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
