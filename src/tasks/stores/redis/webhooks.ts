import type { Maybe, PushConfig } from "../../../envelope/index.js";
import type { DuePush, LeaseRequest, PushProgress } from "../../store.js";
import { deliveryOf } from "../push-state.js";
import type { StoredContent } from "../stored-content.js";
import type { RedisConnection } from "./connection.js";
import { type Hint, HintIndex } from "./hints.js";
import { contentOf, type KeyNames, type TaskKeys } from "./keys.js";
import { listOf, numberOf, textOf } from "./replies.js";
import type { TaskScripts } from "./task-scripts.js";

/** A hint is written before its webhook and must not be processed before the webhook exists. */
const WRITTEN_WITHIN_MS = 5_000;

/** The webhooks of the Redis store. A task with webhooks keeps a hint until it has ended and everything is delivered. */
export class RedisWebhooks {
  readonly #redis: RedisConnection;
  readonly #names: KeyNames;
  readonly #scripts: TaskScripts;
  readonly #content: StoredContent;
  readonly #hints: HintIndex;

  constructor(redis: RedisConnection, names: KeyNames, scripts: TaskScripts, content: StoredContent) {
    this.#content = content;
    this.#redis = redis;
    this.#names = names;
    this.#scripts = scripts;
    this.#hints = new HintIndex(redis, names.duePushes);
  }

  /** Call before a webhook is written. */
  announce(keys: TaskKeys): Promise<unknown> {
    return this.#hints.write(keys, this.#redis.nowMs + WRITTEN_WITHIN_MS).done;
  }

  /** Entries are pending. If this is lost, the existing hint leads there later. */
  note(keys: TaskKeys): void {
    this.#hints.hasten(keys, this.#redis.nowMs).catch(() => undefined);
  }

  async set(keys: TaskKeys, config: PushConfig): Promise<"stored" | "missing" | "full"> {
    const announced = this.announce(keys);
    const setting = this.#scripts.run("setPush", keys, [config.id, this.#content.webhook(contentOf(keys), config)]);
    const [, answer] = await Promise.all([announced, setting]);
    if (answer !== "stored") return answer === "full" ? "full" : "missing";
    this.note(keys);
    return "stored";
  }

  async all(keys: TaskKeys): Promise<Maybe<readonly PushConfig[]>> {
    const answer = await this.#scripts.run("pushes", keys, []);
    if (answer === null) return undefined;
    const [seq, flat] = listOf(answer);
    const fields = fieldsOf(flat);
    const pushes = [...fields].flatMap(([name, numbers]) => {
      if (!name.startsWith("s:")) return [];
      const id = name.slice(2);
      const config = this.#content.webhookFrom(contentOf(keys), id, fields.get(`c:${id}`) ?? "");
      return { order: orderOf(numbers), shown: shownFrom(config, numbers, fields.get(`e:${id}`), numberOf(seq)) };
    });
    return pushes.sort((a, b) => a.order - b.order).map(({ shown }) => shown);
  }

  async delete(keys: TaskKeys, id: string): Promise<boolean> {
    return (await this.#scripts.run("deletePush", keys, [id])) === 1;
  }

  /** One webhook per hint at a time, so that one task cannot occupy a dispatcher. */
  async due(lease: LeaseRequest, limit: number): Promise<readonly DuePush[]> {
    return this.#hints.take(limit, (hint) => this.#take(hint, lease));
  }

  async recordPush(keys: TaskKeys, due: DuePush, progress: PushProgress): Promise<boolean> {
    const number = progress.outcome === "accepted" ? progress.seq : progress.outcome === "failed" ? progress.retryInMs : 0;
    const leaseMs = progress.outcome === "accepted" ? progress.leaseMs : 0;
    const problem = "problem" in progress ? progress.problem : "";
    const answer = await this.#scripts.run("recordPush", keys, [
      due.config.id,
      due.epoch,
      progress.outcome,
      number,
      leaseMs,
      problem,
    ]);
    if (answer === null) return false;
    const [next] = listOf(answer);
    if (next !== "") await this.#hints.hasten(keys, numberOf(next));
    return true;
  }

  async #take(hint: Hint, { leaseMs }: LeaseRequest): Promise<Maybe<DuePush>> {
    const keys = this.#names.ofTag(hint.tag, hint.taskId);
    const answer = await this.#scripts.run("duePush", keys, [leaseMs]);
    const [next, owner, agent, seq, numbers, text, problem, id] = listOf(answer);
    await this.#hints.settle(hint, next === "" ? undefined : numberOf(next)).done;
    if (owner === undefined) return undefined;
    const state = textOf(numbers);
    const config = this.#content.webhookFrom(contentOf(keys), textOf(id), textOf(text));
    const shown = shownFrom(config, state, textOf(problem), numberOf(seq));
    return { owner: textOf(owner), agent: textOf(agent), config: shown, epoch: Number(state.split(" ")[1]) };
  }
}

function orderOf(numbers: string): number {
  return Number(numbers.split(" ")[0]);
}

function shownFrom(config: PushConfig, numbers: string, problem: Maybe<string>, seq: number): PushConfig {
  const [, , , deliveredSeq = 0, failures = 0, dueMs = 0, gaveUp = 0] = numbers.split(" ").map(Number);
  const progress = { deliveredSeq, failures, dueMs, gaveUp: gaveUp === 1, problem: problem === "" ? undefined : problem };
  return { ...config, delivery: deliveryOf(progress, seq) };
}

function fieldsOf(flat: unknown): ReadonlyMap<string, string> {
  const list = listOf(flat);
  const fields = new Map<string, string>();
  for (let index = 0; index + 1 < list.length; index += 2) fields.set(textOf(list[index]), textOf(list[index + 1]));
  return fields;
}
