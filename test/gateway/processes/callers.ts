import {
  type AgentEvent,
  type ConnectOptions,
  connect,
  DiscoveryCache,
  type RemoteAgent,
  type Task,
} from "../../../src/index.js";
import type { PinnedInterface } from "../pairs/interfaces.js";

/** Who may call the gateways of these tests. */
export const TOKENS = { alice: "alice-token-0123456789", bob: "bob-token-0123456789" } as const;

const open = new Set<RemoteAgent>();

/** What a way is called where names are part of addresses. */
export function nameOf({ pin }: PinnedInterface): string {
  return pin.replace(/[^A-Za-z0-9.]+/g, "-").toLowerCase();
}

/** A caller of one agent at a gateway. A stream that is cut stays cut: the tests take it up themselves. */
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

/** The task of an answer that must have one. */
export function taskOf(event: AgentEvent): Task {
  if (event.kind !== "task") throw new Error(`a ${event.kind} came where a task was expected`);
  return event.task;
}

/** What a reader was given of one task, event by event. */
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

  /** Resolves as soon as this holds, or as soon as the stream is over. */
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

/** The pieces of text that artifact events brought, as they came. */
export function piecesOf(events: readonly AgentEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.kind === "artifact" ? event.artifact.parts.map((part) => (part.kind === "text" ? part.text : part.kind)) : [],
  );
}

/** What a reader holds that follows the rule: a piece is added, anything else replaces. */
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

/** From 0 on, as the worker says them. */
export function numbers(many: number): readonly string[] {
  return Array.from({ length: many }, (_, number) => `${number} `);
}
