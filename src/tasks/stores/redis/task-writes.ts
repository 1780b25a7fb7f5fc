import type { Appended, Batch, Created, NewTask } from "../../store.js";
import type { StoredContent } from "../stored-content.js";
import type { RedisConnection } from "./connection.js";
import type { EarlyStoring } from "./early-tasks.js";
import { type KeyNames, subjectIn, type TaskKeys } from "./keys.js";
import type { TaskLeases } from "./leases.js";
import { listOf, textsOf } from "./replies.js";
import type { TaskScripts } from "./task-scripts.js";
import type { WakeChannels } from "./wake-channels.js";
import type { RedisWebhooks } from "./webhooks.js";
import { Withdrawals } from "./withdrawals.js";
import { appendedFrom, batchValues, type EndedTask, endedTaskValues, newTaskValues } from "./writing.js";

interface TaskWritesParts {
  readonly redis: RedisConnection;
  readonly names: KeyNames;
  readonly scripts: TaskScripts;
  readonly content: StoredContent;
  readonly leases: TaskLeases;
  readonly webhooks: RedisWebhooks;
  readonly wakeChannels: WakeChannels;
  readonly slackMs: number;
}

/** Eviction attempts for one new task: other processes may take the freed room. */
const EVICTION_ROUNDS = 64;
const CLOSED: Appended = Object.freeze({ ok: false, because: "closed" });

/** Creates tasks and writes their entries. */
export class TaskWrites implements EarlyStoring {
  readonly #redis: RedisConnection;
  readonly #names: KeyNames;
  readonly #scripts: TaskScripts;
  readonly #content: StoredContent;
  readonly #leases: TaskLeases;
  readonly #webhooks: RedisWebhooks;
  readonly #wakeChannels: WakeChannels;
  readonly #slackMs: number;
  readonly #withdrawals: Withdrawals;
  readonly #makingRoom = new Map<string, Promise<unknown>>();

  constructor({ redis, names, scripts, content, leases, webhooks, wakeChannels, slackMs }: TaskWritesParts) {
    this.#redis = redis;
    this.#names = names;
    this.#scripts = scripts;
    this.#content = content;
    this.#leases = leases;
    this.#webhooks = webhooks;
    this.#wakeChannels = wakeChannels;
    this.#slackMs = slackMs;
    this.#withdrawals = new Withdrawals(scripts);
  }

  async create(start: NewTask): Promise<Created> {
    const { owner, agent, key, task, lease, push } = start;
    const keys = this.#names.ofTask(owner, task.id);
    const ofKey = key === undefined ? undefined : this.#names.ofKey(keys.tag, agent, key);
    if (ofKey !== undefined) await this.#withdrawals.of(ofKey);
    const values = newTaskValues(this.#content, keys, start, this.#slackMs);
    const hint = this.#leases.announce(keys, lease);
    const announced = push === undefined ? undefined : this.#webhooks.announce(keys);
    let answer: unknown;
    try {
      [answer] = await Promise.all([this.#scripts.run("create", keys, values, ofKey), hint.done, announced]);
      for (let tries = 0; tries < EVICTION_ROUNDS && listOf(answer)[0] === "room"; tries++) {
        await this.#makeRoom(keys.tag, textsOf(answer).slice(1));
        answer = await this.#scripts.run("create", keys, values, ofKey);
      }
    } catch (thrown) {
      // The caller is told of a failure, so nothing may remain of the task: it could be made without its hint, or later.
      this.#withdrawals.add(keys, ofKey, lease.holder);
      throw thrown;
    }
    const [outcome, taskId = ""] = textsOf(answer);
    if (outcome === "made") {
      this.#leases.remember(hint);
      if (push !== undefined) this.#webhooks.note(keys);
      return { made: true, epoch: 1 };
    }
    if (outcome === "there") this.#leases.checkSoon(keys);
    else this.#leases.release(hint);
    // In case the task has neither a holder nor a hint.
    if (outcome === "repeated") this.#leases.checkSoon(this.#names.ofTag(keys.tag, taskId));
    if (outcome === "repeated") return { made: false, because: "repeated", taskId };
    if (outcome === "conflict" || outcome === "there") return { made: false, because: "conflict" };
    return { made: false, because: outcome === "expired" ? "expired" : "full" };
  }

  async append(taskId: string, batch: Batch): Promise<Appended> {
    const task = await this.#leases.find(taskId);
    if (task === undefined) return CLOSED;
    const { values, releases } = batchValues(this.#content, task.keys, batch);
    const appended = appendedFrom(await this.#scripts.run("append", task.keys, values));
    if (!appended.ok) return appended;
    if (releases) this.#leases.release(task);
    if (appended.pushDue) this.#webhooks.note(task.keys);
    this.#wakeChannels.notifyLocal(this.#names.wakeChannel(taskId));
    return appended;
  }

  encodeEnded(ended: Omit<EndedTask, "values">): EndedTask["values"] {
    const { owner, task } = ended.start;
    return endedTaskValues(this.#content, this.#names.ofTask(owner, task.id), ended);
  }

  async storeEnded(owner: string, tasks: readonly EndedTask[]): Promise<boolean> {
    const tag = this.#names.tagOf(owner);
    const names: string[] = [...this.#names.indexes(tag), this.#names.keptOf(tag)];
    const values: (string | number)[] = [this.#redis.clock, owner];
    const all = tasks.map((task) => ({ task, keys: this.#names.ofTag(tag, task.start.task.id) }));
    for (const { task, keys } of all) {
      const [columns = "", journal = ""] = keys.all;
      names.push(columns, journal);
      for (const value of task.values) values.push(value);
    }
    try {
      const store = async () => textsOf(await this.#redis.run("storeEnded", names, values));
      let [outcome, ...going] = await store();
      for (let tries = 0; tries < EVICTION_ROUNDS && outcome === "room"; tries++) {
        await this.#makeRoom(tag, going);
        [outcome, ...going] = await store();
      }
      if (outcome !== "stored") return false;
      // If it fails, those that find no room try again.
      if (going.length > 0) this.#makeRoom(tag, going).catch(() => undefined);
      return true;
    } catch (thrown) {
      for (const { task, keys } of all) {
        const { start, ending } = task;
        this.#withdrawals.add(keys, undefined, start.lease.holder, ending.events.length + 1);
      }
      throw thrown;
    }
  }

  atEndOfTurn(run: () => void): void {
    this.#redis.atEndOfTurn(run);
  }

  sendNow(): void {
    this.#redis.sendNow();
  }

  close(): void {
    this.#withdrawals.close();
  }

  async #makeRoom(tag: string, going: readonly string[]): Promise<void> {
    const subject = subjectIn(tag);
    const making = this.#makingRoom.get(subject) ?? this.#evict(tag, going).finally(() => this.#makingRoom.delete(subject));
    this.#makingRoom.set(subject, making);
    await making;
  }

  /** In one step for each owner: a subject has one in each of its tenants. */
  async #evict(tag: string, going: readonly string[]): Promise<void> {
    const byOwner = new Map<string, TaskKeys[]>();
    for (const kept of going) {
      const keys = this.#names.ofKept(tag, kept);
      if (byOwner.get(keys.tag)?.push(keys) === undefined) byOwner.set(keys.tag, [keys]);
    }
    await Promise.all(Array.from(byOwner.values(), (tasks) => this.#scripts.runForAll("evict", tasks)));
  }
}
