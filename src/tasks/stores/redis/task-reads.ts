import type { EventOf, Maybe, OperationOf } from "../../../envelope/index.js";
import type { TaskLimits } from "../../limits.js";
import { pageTokenOf } from "../../page-token.js";
import type { Facts, Snapshot, Store } from "../../store.js";
import type { StoredContent } from "../stored-content.js";
import type { RedisConnection } from "./connection.js";
import { contentOf, type KeyNames, type TaskKeys } from "./keys.js";
import { savedFrom } from "./leases.js";
import { listingOf } from "./listing.js";
import { listOf, numberOf, textOf, textsOf } from "./replies.js";
import { foldedFrom } from "./task-fold.js";
import type { TaskScripts } from "./task-scripts.js";
import { stateFrom } from "./writing.js";

interface TaskReadsParts {
  readonly redis: RedisConnection;
  readonly names: KeyNames;
  readonly scripts: TaskScripts;
  readonly content: StoredContent;
  readonly limits: TaskLimits;
}

const FIRST_KEPT = 1;

/** Reads tasks. Each method is one script; a page of tasks is one more for each of them. */
export class TaskReads {
  readonly #redis: RedisConnection;
  readonly #names: KeyNames;
  readonly #scripts: TaskScripts;
  readonly #content: StoredContent;
  readonly #limits: TaskLimits;

  constructor({ redis, names, scripts, content, limits }: TaskReadsParts) {
    this.#redis = redis;
    this.#names = names;
    this.#scripts = scripts;
    this.#content = content;
    this.#limits = limits;
  }

  async facts(keys: TaskKeys): Promise<Maybe<Facts>> {
    const [columns = ""] = keys.all;
    const answer = await this.#redis.command("HMGET", [columns, "agent", "context", "state", "seq", "gone", "saved"]);
    const [agent, context, state, seq, gone, saved] = listOf(answer);
    if (agent === null || (gone !== null && numberOf(gone) <= this.#redis.nowMs)) return undefined;
    return {
      agent: textOf(agent),
      contextId: textOf(context),
      state: stateFrom(state),
      seq: numberOf(seq),
      saved: savedFrom(this.#content, keys, saved ?? ""),
    };
  }

  async read(keys: TaskKeys, after: number, limit: number): Promise<Awaited<ReturnType<Store["read"]>>> {
    const answer = await this.#scripts.run("read", keys, [after, limit]);
    if (answer === null) return undefined;
    const [closed, texts] = listOf(answer);
    const entries = textsOf(texts).map((text, index) => {
      const seq = after + 1 + index;
      return { seq, event: this.#content.eventFrom(contentOf(keys), seq, text) };
    });
    return { firstKept: FIRST_KEPT, entries, closed: closed === 1 };
  }

  async snapshot(keys: TaskKeys, at?: number): Promise<Maybe<Snapshot>> {
    const answer = await this.#scripts.run("snapshot", keys, [at ?? ""]);
    if (answer === null) return undefined;
    const { task, seq } = this.fold(keys, answer, at === undefined);
    return { task, seq };
  }

  /** The page is chosen in one step; its tasks are read right after, each as it is by then. */
  async list(owner: string, query: OperationOf<"task.list">): Promise<EventOf<"task.list">> {
    const pageSize = query.pageSize ?? this.#limits.defaultPageSize;
    const tag = this.#names.tagOf(owner);
    const { ids, totalSize, end } = await listingOf(this.#redis, this.#names.indexes(tag), query, pageSize);
    const snapshots = await Promise.all(ids.map((id) => this.snapshot(this.#names.ofTag(tag, id))));
    const tasks = snapshots.flatMap((snapshot) => snapshot?.task ?? []);
    return { kind: "tasks", tasks, nextPageToken: end === undefined ? "" : pageTokenOf(end), pageSize, totalSize };
  }

  /** Stores a snapshot after folding many entries. */
  fold(keys: TaskKeys, material: unknown, isNow = true): Snapshot {
    const folded = foldedFrom(this.#content, keys, material);
    const { task, seq, messages, applied } = folded;
    if (isNow && applied >= this.#limits.entriesPerSnapshot) {
      this.#scripts
        .run("keepSnapshot", keys, [seq, messages, this.#content.snapshot(contentOf(keys), { seq, messages }, task)])
        .catch(() => undefined);
    }
    return folded;
  }
}
