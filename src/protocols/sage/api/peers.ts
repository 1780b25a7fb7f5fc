import { type ConnectOptions, connect, type RemoteAgent } from "../../../client/index.js";
import { AgentError, type Maybe } from "../../../envelope/index.js";
import { DidNotResolved, sageError } from "../errors.js";
import type { Message } from "./message.js";

/** Connections that are kept open; a further one closes the one that was used longest ago. */
const MAX_PEERS = 64;
/** Tasks whose agents are known; of older ones callers name the agent. */
const MAX_TASKS = 10_000;

/** The agent that a message is for. */
export interface Recipient {
  readonly did: Maybe<string>;
  readonly url: Maybe<string>;
}

export function recipientOf({ recipientDid: did, recipientUrl: url }: Pick<Message, "recipientDid" | "recipientUrl">): Recipient {
  return { did, url };
}

/** Scheme, host and port: what an agent is known by, whatever the path. */
export function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** The connections of a protocol, one for each agent that it sends to, and the agents of its tasks. */
export class Peers {
  readonly #optionsFor: (recipient: Recipient) => ConnectOptions;
  readonly #open = new Map<string, Promise<RemoteAgent>>();
  readonly #tasks = new Map<string, Recipient>();

  constructor(optionsFor: (recipient: Recipient) => ConnectOptions) {
    this.#optionsFor = optionsFor;
  }

  async to(recipient: Recipient): Promise<RemoteAgent> {
    const { did, url } = recipient;
    const address = url ?? did;
    if (address === undefined)
      throw new AgentError("invalid_message", "the message names no agent: give it recipientDid or recipientUrl", {
        ...{ field: "recipientDid", sent: "no" },
      });
    const key = JSON.stringify([did, url]);
    const peer = this.#open.get(key) ?? this.#connect(address, recipient);
    this.#open.delete(key);
    this.#open.set(key, peer);
    peer.catch(() => this.#open.get(key) === peer && this.#open.delete(key));
    await this.#closeOldest();
    return peer;
  }

  remember(taskId: string, recipient: Recipient): void {
    this.#tasks.set(taskId, recipient);
    const [oldest] = this.#tasks.keys();
    if (this.#tasks.size > MAX_TASKS && oldest !== undefined) this.#tasks.delete(oldest);
  }

  knows(taskId: string): boolean {
    return this.#tasks.has(taskId);
  }

  ofTask(taskId: string, named: Recipient): Recipient {
    const known = named.did === undefined && named.url === undefined ? this.#tasks.get(taskId) : named;
    if (known !== undefined) return known;
    const error = new AgentError("task_not_found", `no agent is known for the task ${taskId.slice(0, 200)}: name it`, {
      ...{ sent: "no", detail: { error: "ErrTaskNotFound" } },
    });
    error.name = "ErrTaskNotFound";
    throw error;
  }

  async close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map(closed));
  }

  /** What is refused has the names of SAGE. */
  async #connect(address: string, recipient: Recipient): Promise<RemoteAgent> {
    try {
      return await connect(address, this.#optionsFor(recipient));
    } catch (thrown) {
      const { cause } = AgentError.from(thrown).facts;
      throw cause instanceof DidNotResolved ? cause : sageError(thrown);
    }
  }

  async #closeOldest(): Promise<void> {
    const [oldest] = this.#open;
    if (this.#open.size <= MAX_PEERS || oldest === undefined) return;
    this.#open.delete(oldest[0]);
    await closed(oldest[1]);
  }
}

/** A connection that was never made needs no end. */
async function closed(peer: Promise<RemoteAgent>): Promise<void> {
  const made = await peer.catch(() => undefined);
  await made?.close();
}
