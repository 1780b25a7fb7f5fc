import type { PushConfig } from "../../envelope/index.js";
import type { DuePush, LeaseRequest, PushProgress } from "../store.js";
import { PushState } from "./push-state.js";
import type { TaskRecord } from "./task-record.js";

/** The webhooks of the memory store. Only tasks with pending entries are scanned. */
export class WebhookNotifications {
  readonly #pending = new Set<TaskRecord>();
  /** One counter for all, so that a webhook set again never reuses an epoch. */
  #epoch = 0;
  readonly #perTask: number;
  readonly #now: () => number;

  constructor(perTask: number, now: () => number) {
    this.#perTask = perTask;
    this.#now = now;
  }

  /** Call after every entry of a task with webhooks. True if one has pending entries. */
  note(record: TaskRecord): boolean {
    const pending = record.pushes?.some((push) => push.isPending(record.seq)) === true;
    if (pending) this.#pending.add(record);
    else this.#pending.delete(record);
    return pending;
  }

  /** The task is not kept any longer. */
  forget(record: TaskRecord): void {
    this.#pending.delete(record);
  }

  set(record: TaskRecord, config: PushConfig): "stored" | "full" {
    record.pushes ??= [];
    const kept = record.pushes.find((push) => push.config.id === config.id);
    if (kept === undefined && record.pushes.length >= this.#perTask) return "full";
    if (kept === undefined) record.pushes.push(new PushState(config, record.seq));
    else kept.replace(config, ++this.#epoch);
    this.note(record);
    return "stored";
  }

  delete(record: TaskRecord, id: string): void {
    record.pushes = record.pushes?.filter((push) => push.config.id !== id);
    this.note(record);
  }

  due({ leaseMs }: LeaseRequest, limit: number): readonly DuePush[] {
    const nowMs = this.#now();
    const due: DuePush[] = [];
    for (const record of this.#pending) {
      for (const push of record.pushes ?? []) {
        if (due.length >= limit) return due;
        if (!push.isDue(record.seq, nowMs)) continue;
        push.epoch = ++this.#epoch;
        push.heldUntilMs = nowMs + leaseMs;
        due.push({ owner: record.owner, agent: record.agent, config: push.shown(record.seq), epoch: push.epoch });
      }
    }
    return due;
  }

  recordPush(record: TaskRecord, due: DuePush, progress: PushProgress): boolean {
    const push = record.pushes?.find(({ config }) => config.id === due.config.id);
    if (push === undefined || push.epoch !== due.epoch) return false;
    push.apply(progress, this.#now());
    this.note(record);
    return true;
  }
}
