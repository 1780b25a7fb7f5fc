import { AgentError, type Maybe, type PushConfig, SEAL_KEY } from "../../../envelope/index.js";
import type { DuePush, LeaseRequest, NewTask, PushProgress } from "../../store.js";
import { deliveryOf } from "../push-state.js";
import type { StoredContent } from "../stored-content.js";
import { columnText, nameFrom } from "./column-text.js";
import type { Connection, Statement } from "./library.js";
import type { TaskRow } from "./task-row.js";
import type { TaskTable } from "./task-table.js";

type Columns = readonly [
  n: number,
  config: string,
  seq: number,
  failures: number,
  due: number,
  gaveUp: number,
  problem: string | null,
  epoch: number,
  id: string,
];
/** More leases than a webhook ever gets; billions of rows still have exact numbers. */
const EPOCHS_PER_ROW = 2 ** 20;
const CHANGED = "its configuration was changed in the task store";
const COLUMNS = "p.n, p.config, p.seq, p.failures, p.due, p.gave_up, p.problem, p.epoch, p.id";

/** Webhooks: each is a cursor in its task's journal. `pending` is true while entries after the cursor are undelivered. */
export class PushTable {
  readonly #content: StoredContent;
  readonly #tasks: TaskTable;
  readonly #perTask: number;
  readonly #now: () => number;
  readonly #ofTask: Statement<Columns>;
  readonly #one: Statement<Columns>;
  readonly #insert: Statement<readonly []>;
  readonly #replace: Statement<readonly []>;
  readonly #delete: Statement<readonly []>;
  readonly #note: Statement<readonly []>;
  readonly #isPending: Statement<readonly [number]>;
  readonly #due: Statement<readonly [...Columns, taskSeq: number, owner: string, agent: string, taskId: string]>;
  readonly #take: Statement<readonly []>;
  readonly #accepted: Statement<readonly []>;
  readonly #idle: Statement<readonly []>;
  readonly #failed: Statement<readonly []>;
  readonly #gaveUp: Statement<readonly []>;

  constructor(
    connection: Connection,
    uses: { readonly content: StoredContent; readonly tasks: TaskTable },
    rules: { readonly perTask: number; now(): number },
  ) {
    this.#content = uses.content;
    this.#tasks = uses.tasks;
    this.#perTask = rules.perTask;
    this.#now = rules.now;
    this.#ofTask = connection.prepare(`SELECT ${COLUMNS} FROM pushes p WHERE p.task = ? ORDER BY p.n`);
    this.#one = connection.prepare(`SELECT ${COLUMNS} FROM pushes p WHERE p.task = ? AND p.id = ?`);
    this.#insert = connection.prepare("INSERT INTO pushes (task, id, config, seq, pending) VALUES (?, ?, ?, ?, ?)");
    this.#replace = connection.prepare(
      "UPDATE pushes SET config = ?, epoch = epoch + 1, held_until = 0, failures = 0, due = 0, gave_up = 0, problem = NULL, pending = seq < ? WHERE n = ?",
    );
    this.#delete = connection.prepare("DELETE FROM pushes WHERE task = ? AND id = ?");
    this.#note = connection.prepare("UPDATE pushes SET pending = 1 WHERE task = ? AND gave_up = 0 AND seq < ? AND pending = 0");
    this.#isPending = connection.prepare("SELECT 1 FROM pushes WHERE task = ? AND pending = 1 LIMIT 1");
    this.#due = connection.prepare(
      `SELECT ${COLUMNS}, t.seq, t.owner, t.agent, t.id FROM pushes p JOIN tasks t ON t.n = p.task
       WHERE p.pending = 1 AND max(p.due, p.held_until) <= ? AND (t.closed = 0 OR t.status_at > ?)
       ORDER BY max(p.due, p.held_until) LIMIT ?`,
    );
    this.#take = connection.prepare("UPDATE pushes SET epoch = epoch + 1, held_until = ? WHERE n = ?");
    this.#accepted = connection.prepare(
      "UPDATE pushes SET seq = ?1, failures = 0, problem = NULL, held_until = ?2, pending = gave_up = 0 AND ?1 < ?3 WHERE n = ?4",
    );
    this.#idle = connection.prepare("UPDATE pushes SET held_until = 0 WHERE n = ?");
    this.#failed = connection.prepare(
      "UPDATE pushes SET failures = failures + 1, problem = ?, held_until = 0, due = ? WHERE n = ?",
    );
    this.#gaveUp = connection.prepare(
      "UPDATE pushes SET failures = failures + 1, problem = ?, held_until = 0, gave_up = 1, pending = 0 WHERE n = ?",
    );
  }

  /** A webhook set with a new task is notified of the task itself. */
  begin(n: number, { owner, task, push }: NewTask): void {
    if (push === undefined) return;
    const text = this.#content.webhook({ owner, taskId: task.id }, push);
    this.#insert.run([n, columnText(push.id), text, 0, 1]);
  }

  /** Call after every entry. True if a webhook has pending entries. */
  note(row: TaskRow): boolean {
    if (row.pushes === 0) return false;
    this.#note.run([row.n, row.seq]);
    return this.isPending(row);
  }

  isPending(row: TaskRow): boolean {
    return row.pushes > 0 && this.#isPending.get([row.n]) !== undefined;
  }

  set(row: TaskRow, config: PushConfig): "stored" | "full" {
    const kept = this.#one.get([row.n, columnText(config.id)]);
    if (kept === undefined && row.pushes >= this.#perTask) return "full";
    if (kept !== undefined) {
      this.#replace.run([this.#content.webhook(row, config), row.seq, kept[0]]);
      return "stored";
    }
    this.#insert.run([row.n, columnText(config.id), this.#content.webhook(row, config), row.seq, 0]);
    this.#tasks.countPushes(row, 1);
    return "stored";
  }

  of(row: TaskRow): readonly PushConfig[] {
    return row.pushes === 0 ? [] : this.#ofTask.all([row.n]).map((columns) => this.#shown(columns, row));
  }

  delete(row: TaskRow, id: string): void {
    if (this.#delete.run([row.n, columnText(id)]).changes > 0) this.#tasks.countPushes(row, -1);
  }

  due({ leaseMs }: LeaseRequest, limit: number): readonly DuePush[] {
    const nowMs = this.#now();
    return this.#due.intact([nowMs, this.#tasks.overBefore, limit]).flatMap((row) => {
      const [n, text, seq, failures, due, gaveUp, problem, epoch, id, taskSeq, owner, agent, taskId] = row;
      this.#take.run([nowMs + leaseMs, n]);
      const columns: Columns = [n, text, seq, failures, due, gaveUp, problem, epoch, id];
      const config = this.#opened(columns, { taskId: nameFrom(taskId), owner: nameFrom(owner), seq: taskSeq });
      if (config === undefined) return [];
      return [{ owner: nameFrom(owner), agent: nameFrom(agent), config, epoch: epochOf(n, epoch + 1) }];
    });
  }

  /** One that cannot be opened does not stop the others: nothing more is sent to it if it was changed. */
  #opened(columns: Columns, task: Pick<TaskRow, "taskId" | "owner" | "seq">): Maybe<PushConfig> {
    try {
      return this.#shown(columns, task);
    } catch (thrown) {
      if (!(thrown instanceof AgentError)) throw thrown;
      if (thrown.facts.field !== SEAL_KEY) this.#gaveUp.run([columnText(CHANGED), columns[0]]);
      return undefined;
    }
  }

  recordPush(row: TaskRow, due: DuePush, progress: PushProgress): boolean {
    const push = this.#one.get([row.n, columnText(due.config.id)]);
    if (push === undefined || epochOf(push[0], push[7]) !== due.epoch) return false;
    this.#apply(push[0], row, progress);
    return true;
  }

  /** The configuration with its delivery state. */
  #shown(
    [, text, seq, failures, due, gaveUp, problem, , id]: Columns,
    task: Pick<TaskRow, "taskId" | "owner" | "seq">,
  ): PushConfig {
    const soFar = {
      deliveredSeq: seq,
      failures,
      dueMs: due,
      gaveUp: gaveUp === 1,
      problem: problem === null ? undefined : nameFrom(problem),
    };
    return { ...this.#content.webhookFrom(task, nameFrom(id), text), delivery: deliveryOf(soFar, task.seq) };
  }

  #apply(n: number, row: TaskRow, progress: PushProgress): void {
    switch (progress.outcome) {
      case "accepted":
        this.#accepted.run([progress.seq, this.#now() + progress.leaseMs, row.seq, n]);
        return;
      case "idle":
        this.#idle.run([n]);
        return;
      case "failed":
        this.#failed.run([columnText(progress.problem), this.#now() + progress.retryInMs, n]);
        return;
      case "gave_up":
        this.#gaveUp.run([columnText(progress.problem), n]);
        return;
      default:
        progress satisfies never;
    }
  }
}

/** A webhook that was deleted and set again is another row with a new number. */
function epochOf(n: number, epoch: number): number {
  return n * EPOCHS_PER_ROW + epoch;
}
