import { AgentError, type Maybe, type Task } from "../../../envelope/index.js";
import { type Agent, type AgentOptions, agent, type ServeOptions, type Server, serve } from "../../../server/index.js";
import type { AgentFunction } from "../../../tasks/index.js";
import type { AgentSession } from "./agent-session.js";
import type { Downgrade } from "./downgrades.js";
import { type Message, type MessageResponse, newMessage, type ResponseEvent } from "./message.js";
import type { CallOptions, MessageProtocol, TaskOptions } from "./message-protocol.js";
import { checkOptions, type Messaging, type OptionalSage, openMessaging, type SageOptions } from "./options.js";
import { ProtocolAuto, type ProtocolMode } from "./selector.js";
import type { BatchResult } from "./verify.js";

/** Options of `serve` that do not follow from the protocol. */
export type AgentServeOptions = Omit<ServeOptions, "protocols" | "identity" | "settings" | "replay" | "require">;

/** An agent that answers messages and sends them, by the protocol that fits each. */
export interface MessagingAgent extends Omit<MessageProtocol, "version" | "requiresSecurity"> {
  /** Serves it on a port. The options of SAGE are added; its store is the one of `withSAGE`. */
  serve(options?: AgentServeOptions): Promise<Server>;
  /** Makes a session with an agent, to be given to `withSession`. Throws without SAGE. */
  establishSession(peerDid: string, options?: { readonly recipientUrl?: string } & CallOptions): Promise<AgentSession>;
  /** Returns the DID of the author of a signed message. Throws for one that is not valid, or was verified before. */
  verifyMessage(message: Message): Promise<string>;
  verifyBatch(messages: readonly Message[]): Promise<readonly BatchResult[]>;
  /** Whether messages can be sent by SAGE now. */
  isAvailable(): Promise<boolean>;
  /** Messages that were sent without SAGE by an exception of the policy. */
  downgrades(): Promise<{ readonly count: number; readonly recent: readonly Downgrade[] }>;
  /** Closes its connections. Servers are closed by themselves. */
  close(): Promise<void>;
}

/** Builds an agent step by step. */
export class AgentBuilder {
  readonly #options: Partial<AgentOptions> & Pick<AgentOptions, "name">;
  #protocol: ProtocolMode | MessageProtocol = ProtocolAuto;
  #sage: Maybe<SageOptions | OptionalSage>;
  #handle: Maybe<AgentFunction>;

  constructor(options: Partial<AgentOptions> & Pick<AgentOptions, "name">) {
    this.#options = options;
  }

  /** How it sends messages, and which it accepts. Default: `ProtocolAuto`. */
  withProtocol(protocol: ProtocolMode | MessageProtocol): this {
    this.#protocol = protocol;
    return this;
  }

  /** Its identity, or `optional(…)`. */
  withSAGE(options: SageOptions | OptionalSage): this {
    this.#sage = options;
    return this;
  }

  /** What it does with messages. Default: it only sends. */
  onMessage(handle: AgentFunction): this {
    this.#handle = handle;
    return this;
  }

  /** Throws for options that do not fit together. Opens nothing. */
  build(): MessagingAgent {
    const protocol = this.#protocol;
    if (typeof protocol !== "string") return new ProtocolAgent(this.#options, this.#handle, protocol, undefined);
    checkOptions(protocol, this.#sage);
    const sage = this.#sage;
    return new ProtocolAgent(this.#options, this.#handle, undefined, () => openMessaging(protocol, sage));
  }
}

/** Begins an agent: `newAgent("desk").withProtocol(ProtocolAuto).withSAGE(optional()).onMessage(…).build()`. */
export function newAgent(name: string, options: Omit<Partial<AgentOptions>, "name" | "handle"> = {}): AgentBuilder {
  return new AgentBuilder({ ...options, name });
}

class ProtocolAgent implements MessagingAgent {
  readonly name: string;
  readonly #options: Partial<AgentOptions> & Pick<AgentOptions, "name">;
  readonly #handle: Maybe<AgentFunction>;
  readonly #given: Maybe<MessageProtocol>;
  readonly #open: Maybe<() => Promise<Messaging>>;
  #messaging: Maybe<Promise<Messaging>>;

  constructor(
    options: Partial<AgentOptions> & Pick<AgentOptions, "name">,
    handle: Maybe<AgentFunction>,
    given: Maybe<MessageProtocol>,
    open: Maybe<() => Promise<Messaging>>,
  ) {
    this.name = options.name;
    this.#options = options;
    this.#handle = handle;
    this.#given = given;
    this.#open = open;
  }

  async sendMessage(message: Message, options?: CallOptions): Promise<MessageResponse> {
    return (await this.#for(message, options)).sendMessage(message, options);
  }

  async *streamMessage(message: Message, options?: CallOptions): AsyncGenerator<ResponseEvent, void, void> {
    yield* (await this.#for(message, options)).streamMessage(message, options);
  }

  async getTask(taskId: string, options: TaskOptions = {}): Promise<Task> {
    return (await this.#ofTask(taskId, options)).getTask(taskId, options);
  }

  async cancelTask(taskId: string, options: TaskOptions = {}): Promise<Task> {
    return (await this.#ofTask(taskId, options)).cancelTask(taskId, options);
  }

  async serve(options: AgentServeOptions = {}): Promise<Server> {
    const handle = this.#handle;
    if (handle === undefined) throw new AgentError("unsupported", `agent ${this.name} has no onMessage: it only sends`);
    const served = this.#given === undefined ? (await this.#ready()).options : undefined;
    const { store } = served?.serve ?? {};
    if (store !== undefined && options.store !== undefined && options.store !== store)
      throw new AgentError("invalid_message", "the store of an agent with SAGE is given to withSAGE", { field: "store" });
    const layers = [...(served?.serve.layers ?? []), ...(options.layers ?? [])];
    return serve(this.#agent(handle, served?.agent), { ...options, ...served?.serve, layers });
  }

  async establishSession(peerDid: string, options?: { readonly recipientUrl?: string } & CallOptions): Promise<AgentSession> {
    return this.#secured("sage").then((sage) => sage.establishSession(peerDid, options));
  }

  async verifyMessage(message: Message): Promise<string> {
    return (await this.#secured("verifier")).verifyMessage(message);
  }

  async verifyBatch(messages: readonly Message[]): Promise<readonly BatchResult[]> {
    return (await this.#secured("verifier")).verifyBatch(messages);
  }

  async isAvailable(): Promise<boolean> {
    return (await (await this.#ready()).sage?.isAvailable()) ?? false;
  }

  async downgrades(): Promise<{ readonly count: number; readonly recent: readonly Downgrade[] }> {
    return (await this.#ready()).selector.downgrades;
  }

  async close(): Promise<void> {
    await this.#given?.close?.();
    if (this.#messaging === undefined) return;
    const { a2a, sage } = await this.#messaging;
    await Promise.all([a2a.close(), sage?.close()]);
  }

  #agent(handle: AgentFunction, more: Pick<AgentOptions, "require"> = {}): Agent {
    return agent({ description: this.name, ...this.#options, ...more, handle });
  }

  async #for(message: Message, options: CallOptions = {}): Promise<MessageProtocol> {
    if (this.#given !== undefined) return this.#given;
    const { selector, sage } = await this.#ready();
    // What is to be sent in a session is not sent otherwise.
    if (options.session !== undefined && sage !== undefined) return sage;
    return selector.selectWithFallback(message);
  }

  /** The protocol that the task came by, or the one for the named agent. A task that came by SAGE is not asked for by A2A. */
  async #ofTask(taskId: string, { recipientDid, recipientUrl }: TaskOptions): Promise<MessageProtocol> {
    if (this.#given !== undefined) return this.#given;
    const { a2a, sage, selector } = await this.#ready();
    if (sage === undefined || sage.knows(taskId)) return sage ?? a2a;
    return a2a.knows(taskId) ? a2a : selector.selectProtocol(newMessage("", { recipientDid, recipientUrl }));
  }

  async #secured<P extends "sage" | "verifier">(part: P): Promise<NonNullable<Messaging[P]>> {
    const found = (await this.#ready())[part];
    if (found != null) return found;
    throw new AgentError("unsupported", `agent ${this.name} has no identity of SAGE: give one to withSAGE()`, { sent: "no" });
  }

  #ready(): Promise<Messaging> {
    if (this.#open === undefined)
      return Promise.reject(new AgentError("unsupported", `agent ${this.name} has a protocol of its own`, { sent: "no" }));
    this.#messaging ??= this.#open();
    return this.#messaging;
  }
}
