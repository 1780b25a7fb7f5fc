import type { RemoteAgent } from "../../../client/index.js";
import {
  AgentError,
  type AgentEvent,
  type Call,
  cancelFrom,
  isPromise,
  type Maybe,
  type Reply,
  startCall,
  type Task,
} from "../../../envelope/index.js";
import {
  envelopeOf,
  type Message,
  type MessageResponse,
  type ResponseEvent,
  type ResponseSecurity,
  responseOf,
} from "./message.js";
import type { CallOptions, MessageProtocol, TaskOptions } from "./message-protocol.js";
import { type Peers, type Recipient, recipientOf } from "./peers.js";

/** What the two protocols have in common: a message is sent over the connection to its recipient. */
export abstract class ConnectedProtocol implements MessageProtocol {
  abstract readonly name: string;
  abstract readonly version: string;
  abstract readonly requiresSecurity: boolean;
  protected readonly peers: Peers;

  constructor(peers: Peers) {
    this.peers = peers;
  }

  /** The recipient of a message that may be sent. Throws if it may not, or not by this protocol. */
  protected abstract accept(message: Message): Promise<Recipient>;
  /** Prepares a call: what must hold for it. */
  protected abstract prepare(call: Call, options: CallOptions): Call;
  /** Called with the agent that answered. */
  protected abstract answered(recipient: Recipient, peer: RemoteAgent): Promise<ResponseSecurity>;

  async sendMessage(message: Message, options: CallOptions = {}): Promise<MessageResponse> {
    const { recipient, peer, reply } = await this.#send(message, options, "answer");
    if (!isPromise(reply)) throw new AgentError("internal", "expected one answer and received a stream");
    const event = await reply;
    const security = await this.answered(recipient, peer);
    if (event.kind === "task") this.peers.remember(event.task.id, recipient);
    return responseOf(event, security);
  }

  async *streamMessage(message: Message, options: CallOptions = {}): AsyncGenerator<ResponseEvent, void, void> {
    const { recipient, peer, reply } = await this.#send(message, options, "stream");
    let isFirst = true;
    for await (const event of eventsOf(reply)) {
      if (isFirst) await this.answered(recipient, peer);
      isFirst = false;
      if (event.kind === "task") this.peers.remember(event.task.id, recipient);
      yield event as ResponseEvent; // the client has refused events of other operations
    }
  }

  async getTask(taskId: string, options: TaskOptions = {}): Promise<Task> {
    return this.#task("task.get", taskId, options);
  }

  async cancelTask(taskId: string, options: TaskOptions = {}): Promise<Task> {
    return this.#task("task.cancel", taskId, options);
  }

  /** Whether the task came by this protocol. */
  knows(taskId: string): boolean {
    return this.peers.knows(taskId);
  }

  async close(): Promise<void> {
    await this.peers.close();
  }

  protected callFor(options: CallOptions): Call {
    const { signal } = options;
    return this.prepare(startCall({ cancel: signal && cancelFrom(signal) }), options);
  }

  async #send(message: Message, options: CallOptions, delivery: "answer" | "stream") {
    const call = this.callFor(options);
    const recipient = await this.accept(message);
    const peer = await this.peers.to(recipient);
    const envelope = envelopeOf(message, "");
    return { recipient, peer, reply: peer.handler({ kind: "send", envelope, delivery, task: "auto" }, call) };
  }

  async #task(kind: "task.get" | "task.cancel", taskId: string, options: TaskOptions): Promise<Task> {
    const recipient = this.peers.ofTask(taskId, recipientOf(options));
    const peer = await this.peers.to(recipient);
    const event = await peer.handler({ kind, taskId }, this.callFor({ signal: options.signal }));
    return (event as Extract<AgentEvent, { readonly kind: "task" }>).task; // the client has refused other answers
  }
}

async function* eventsOf(reply: Reply): AsyncGenerator<AgentEvent, void, void> {
  if (isPromise(reply)) yield await reply;
  else yield* reply;
}

/** A message that asks for SAGE: by its member `security`, or because it is for a DID. */
export function asksForSage({ security, recipientDid }: Message): Maybe<string> {
  if (security?.mode === "sage") return "its member security asks for SAGE";
  return recipientDid === undefined ? undefined : `it is for ${recipientDid.slice(0, 200)}`;
}
