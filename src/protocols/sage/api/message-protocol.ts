import { AgentError, type Maybe, type Task } from "../../../envelope/index.js";
import type { AgentSession } from "./agent-session.js";
import type { Message, MessageResponse, ResponseEvent } from "./message.js";

/** Options of one call. */
export interface CallOptions {
  /** Stops the wait, not the work. */
  readonly signal?: Maybe<AbortSignal>;
  /** The session to send in. If it has ended, nothing is sent. Default: the one that is open with the agent, or a new one. */
  readonly session?: Maybe<AgentSession>;
}

/** Which agent has a task. Default: the one that the task came from. */
export interface TaskOptions extends Omit<CallOptions, "session"> {
  readonly recipientDid?: Maybe<string>;
  readonly recipientUrl?: Maybe<string>;
}

/** What an agent sends messages by: A2A, SAGE, or one of your own. */
export interface MessageProtocol {
  readonly name: string;
  readonly version: string;
  /** Whether it sends nothing that is not signed. */
  readonly requiresSecurity: boolean;
  /** Throws AgentError. */
  sendMessage(message: Message, options?: CallOptions): Promise<MessageResponse>;
  /** Yields the events of the answer as they arrive. */
  streamMessage(message: Message, options?: CallOptions): AsyncIterable<ResponseEvent>;
  getTask(taskId: string, options?: TaskOptions): Promise<Task>;
  cancelTask(taskId: string, options?: TaskOptions): Promise<Task>;
  /** Releases connections. */
  close?(): Promise<void>;
}

/** The option of a call that is sent in this session, and in no other. */
export function withSession(session: AgentSession): CallOptions {
  return { session };
}

/** The parts of a protocol that a test has functions for. */
export interface MockFunctions extends Partial<Omit<MessageProtocol, "sendMessage">> {
  sendMessage(message: Message, options?: CallOptions): Promise<MessageResponse> | MessageResponse;
}

/** A protocol for tests: it calls the given functions, and refuses what it has none for. */
export class MockProtocol implements MessageProtocol {
  readonly name: string;
  readonly version: string;
  readonly requiresSecurity: boolean;
  readonly #functions: MockFunctions;

  constructor(functions: MockFunctions) {
    this.#functions = functions;
    this.name = functions.name ?? "mock";
    this.version = functions.version ?? "1";
    this.requiresSecurity = functions.requiresSecurity ?? false;
  }

  async sendMessage(message: Message, options?: CallOptions): Promise<MessageResponse> {
    return this.#functions.sendMessage(message, options);
  }

  streamMessage(message: Message, options?: CallOptions): AsyncIterable<ResponseEvent> {
    return this.#functions.streamMessage?.(message, options) ?? missing("streamMessage");
  }

  async getTask(taskId: string, options?: TaskOptions): Promise<Task> {
    return this.#functions.getTask?.(taskId, options) ?? missing("getTask");
  }

  async cancelTask(taskId: string, options?: TaskOptions): Promise<Task> {
    return this.#functions.cancelTask?.(taskId, options) ?? missing("cancelTask");
  }

  async close(): Promise<void> {
    await this.#functions.close?.();
  }
}

function missing(name: keyof MockFunctions): never {
  throw new AgentError("unsupported", `the mock protocol has no function ${name}`, { sent: "no" });
}
