import { answerOf, type JsonObject, type Store, type Task, textOf } from "../../src/index.js";
import type { TaskLine } from "../dashboard/index.js";
import type { RecentCaller } from "./observations.js";

/** Limits: most recent callers, tasks per caller, events per task. */
const OWNERS = 50;
const TASKS_OF_ONE = 50;
const EVENTS = 500;
const TEXT_CHARACTERS = 200;

/** Tasks of recent callers: a store lists tasks per owner only. */
export async function recentTasks(store: Store, callers: readonly RecentCaller[], limit: number): Promise<readonly TaskLine[]> {
  const owners = [...new Set(callers.map(({ owner }) => owner))].slice(-OWNERS);
  const pages = await Promise.all(owners.map((owner) => tasksOf(store, owner)));
  return pages
    .flat()
    .toSorted((a, b) => b.at - a.at)
    .slice(0, limit);
}

async function tasksOf(store: Store, owner: string): Promise<readonly TaskLine[]> {
  const { tasks } = await store.list(owner, { kind: "task.list", pageSize: TASKS_OF_ONE, historyLength: 1, artifacts: true });
  return Promise.all(
    tasks.map(async (task) => ({
      id: task.id,
      agent: (await store.facts(task.id, owner))?.agent ?? "",
      state: task.status.state,
      at: task.status.at,
      text: shortText(task),
    })),
  );
}

function shortText(task: Task): string {
  return textOf(answerOf(task)).slice(0, TEXT_CHARACTERS);
}

/** Events of one task of any recent caller. */
export async function taskEvents(store: Store, callers: readonly RecentCaller[], id: string): Promise<readonly JsonObject[]> {
  for (const { owner } of callers.slice(-OWNERS)) {
    const read = await store.read(id, owner, 0, EVENTS);
    if (read !== undefined) return read.entries.map(({ seq, event }) => ({ seq, ...plainJson(event) }));
  }
  return [];
}

/** Encodes bytes as base64; everything else in an event is JSON already. */
export function plainJson(event: object): JsonObject {
  const text = JSON.stringify(event, (_name, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
  );
  return JSON.parse(text) as JsonObject; // an object stays an object
}
