import {
  type AgentEvent,
  type ConnectOptions,
  connect,
  DiscoveryCache,
  type RemoteAgent,
  type Task,
} from "../../../src/index.js";
import type { PinnedInterface } from "../pairs/interfaces.js";

/** The callers of the gateways in these tests. */
export const TOKENS = { alice: "alice-token-0123456789", bob: "bob-token-0123456789" } as const;

const open = new Set<RemoteAgent>();

/** The name of an interface as part of an address. */
export function nameOf({ pin }: PinnedInterface): string {
  return pin.replace(/[^A-Za-z0-9.]+/g, "-").toLowerCase();
}

/** A caller of one agent of a gateway. Broken streams are not resumed: the tests do that. */
export async function callerOf(
  gatewayUrl: string,
  agent: string,
  who: keyof typeof TOKENS = "alice",
  options: ConnectOptions = {},
): Promise<RemoteAgent> {
  const peer = await connect(`${gatewayUrl}/a2a/${agent}`, {
    discoveryCache: new DiscoveryCache(),
    resume: false,
    credentials: { bearer: TOKENS[who] },
    ...options,
  });
  open.add(peer);
  return peer;
}

export async function closeCallers(): Promise<void> {
  await Promise.all([...open].map((peer) => peer.close()));
  open.clear();
}

/** The task of an answer; throws if there is none. */
export function taskOf(event: AgentEvent): Task {
  if (event.kind !== "task") throw new Error(`a ${event.kind} came where a task was expected`);
  return event.task;
}

/** The events of one task that a reader received. */
export class Reading {
  readonly events: AgentEvent[] = [];
  broke: unknown;
  readonly done: Promise<void>;
  readonly #waiting = new Set<() => void>();

  constructor(stream: AsyncIterable<AgentEvent>) {
    this.done = this.#read(stream);
  }

  get taskId(): string {
    const first = this.events[0];
    if (first?.kind === "task") return first.task.id;
    return first !== undefined && "taskId" in first ? first.taskId : "";
  }

  get cursor(): string | undefined {
    return this.events.at(-1)?.cursor;
  }

  get state(): string | undefined {
    const last = this.events.filter(({ kind }) => kind === "status" || kind === "task").at(-1);
    return last?.kind === "status" ? last.status.state : last?.kind === "task" ? last.task.status.state : undefined;
  }

  /** Resolves when the condition holds, or when the stream is over. */
  async until(holds: (reading: Reading) => boolean): Promise<void> {
    while (!holds(this)) {
      const next = new Promise<void>((resolve) => this.#waiting.add(resolve));
      if ((await Promise.race([next, this.done.then(() => "over")])) === "over") return;
    }
  }

  async #read(stream: AsyncIterable<AgentEvent>): Promise<void> {
    try {
      for await (const event of stream) {
        this.events.push(event);
        for (const wake of this.#waiting) wake();
        this.#waiting.clear();
      }
    } catch (thrown) {
      this.broke = thrown;
    }
  }
}

/** The text chunks of artifact events, in order. */
export function piecesOf(events: readonly AgentEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.kind === "artifact" ? event.artifact.parts.map((part) => (part.kind === "text" ? part.text : part.kind)) : [],
  );
}

/** The text that a reader assembles: a chunk is appended, anything else replaces. */
export function heldBy(events: readonly AgentEvent[]): readonly string[] {
  let held: string[] = [];
  for (const event of events) {
    if (event.kind === "task") held = event.task.artifacts.flatMap(({ parts }) => textsOf(parts));
    if (event.kind === "artifact") held = [...(event.append ? held : []), ...textsOf(event.artifact.parts)];
  }
  return held;
}

function textsOf(parts: readonly { readonly kind: string }[]): string[] {
  return parts.map((part) => ("text" in part ? String(part.text) : part.kind));
}

/** The numbers from 0 on, as the worker sends them. */
export function numbers(many: number): readonly string[] {
  return Array.from({ length: many }, (_, number) => `${number} `);
}
