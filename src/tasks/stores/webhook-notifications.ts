import type { PushConfig } from "../../envelope/index.js";
import type { DuePush, LeaseRequest, PushProgress } from "../store.js";
import { KeptPush } from "./kept-push.js";
import type { TaskRecord } from "./task-record.js";

/** The webhooks of the memory store. Only tasks with something left to tell are looked through. */
export class WebhookNotifications {
  readonly #pending = new Set<TaskRecord>();
  /** One count for all, so that a webhook set anew after its end is never numbered like the old one. */
  #epoch = 0;
  readonly #perTask: number;
  readonly #now: () => number;

  constructor(perTask: number, now: () => number) {
    this.#perTask = perTask;
    this.#now = now;
  }

  /** To be said after every entry of a task that has webhooks. True when one of them is to be told. */
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
    if (kept === undefined) record.pushes.push(new KeptPush(config, record.seq));
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

  told(record: TaskRecord, due: DuePush, told: PushProgress): boolean {
    const push = record.pushes?.find(({ config }) => config.id === due.config.id);
    if (push === undefined || push.epoch !== due.epoch) return false;
    push.take(told, this.#now());
    this.note(record);
    return true;
  }
}
