import { type Envelope, NO_META, type State, type Task, type TaskEvent, textPart } from "../../../src/envelope/index.js";
import type { Batch, NewTask, Store } from "../../../src/tasks/store.js";

/** Sample data of the store contract, and how results are compared. */
export const OWNER = "key:ann";
export const LEASE = { holder: "h-1", leaseMs: 1_000 };

export function start(id: string): NewTask {
  const task: Task = {
    id,
    contextId: "c",
    status: { state: "submitted", at: 1_000 },
    artifacts: [],
    history: [message("hello")],
  };
  return { task, owner: OWNER, agent: "a", key: undefined, lease: LEASE };
}

export function batch(epoch: number, after: number, events: readonly TaskEvent[]): Batch {
  return { epoch, after, events, state: undefined, unlessQueued: false };
}

export function message(text: string, idempotencyKey?: string): Envelope {
  const role = text.startsWith("w") ? "agent" : "user";
  const content = [textPart(text)];
  const context = { idempotencyKey };
  return { id: `m-${text}`, ts: 1, src: "s", dst: "d", intent: "chat", role, content, context, meta: NO_META };
}

export function status(state: State, words?: string, at = 1_000): TaskEvent {
  const statusMessage = words === undefined ? undefined : message(words);
  return { kind: "status", taskId: "t", contextId: "c", status: { state, at, message: statusMessage } };
}

export function chunk(text: string, append = false): TaskEvent {
  const artifact = { id: "result", parts: [textPart(text)] };
  return { kind: "artifact", taskId: "t", contextId: "c", artifact, append, last: false };
}

export async function read(store: Store, taskId: string, after = 0, limit = 100): Promise<readonly string[]> {
  const page = await store.read(taskId, OWNER, after, limit);
  return (page?.entries ?? []).map(({ seq, event }) => {
    if (event.kind === "artifact") return `${seq} artifact`;
    return `${seq} ${event.kind} ${event.kind === "task" ? event.task.status.state : event.status.state}`;
  });
}

export function shape(snapshot: Awaited<ReturnType<Store["snapshot"]>>) {
  if (snapshot === undefined) return undefined;
  const { task, seq } = snapshot;
  const texts = (parts: readonly { readonly kind: string }[]) => parts.map((part) => ("text" in part ? part.text : "")).join("");
  const history = task.history.map(({ content }) => texts(content));
  return { seq, state: task.status.state, text: task.artifacts.map(({ parts }) => texts(parts)).join("|"), history };
}

/** Compares the result of a store with the expected one, members in any order. */
export function same(got: unknown, want: unknown): void {
  const [shown, wanted] = [canonical(got), canonical(want)];
  if (shown !== wanted) throw new Error(`got ${shown}, want ${wanted}`);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${name}:${canonical(member)}`).join(",")}}`;
}

export async function rejects(work: Promise<unknown>, code: string): Promise<void> {
  const thrown: unknown = await work.then(
    () => undefined,
    (reason) => reason,
  );
  same(typeof thrown === "object" && thrown !== null && "code" in thrown ? thrown.code : undefined, code);
}
