import { isTerminal, type Maybe } from "../../../envelope/index.js";
import type { TaskLimits } from "../../limits.js";
import type { Appended, Batch, Created, NewTask } from "../../store.js";
import { type EndedTask, eventsSize, lastStatus } from "./writing.js";

/**
 * Tasks that one script stores; so many are sent without waiting for the end of the turn. Few: this process works on the next ones of the
 * turn while Redis stores these.
 */
const TASKS_AT_ONCE = 16;
const BYTES_AT_ONCE = 256 * 1024;

const CLOSED: Appended = Object.freeze({ ok: false, because: "closed" });
const APPENDED: Appended = Object.freeze({ ok: true, cancelRequested: false, pushDue: false });

/** How tasks are stored. */
export interface EarlyStoring {
  create(start: NewTask): Promise<Created>;
  append(taskId: string, batch: Batch): Promise<Appended>;
  /** Throws for content that cannot be stored. */
  encodeEnded(ended: Omit<EndedTask, "values">): EndedTask["values"];
  /** Tasks of this owner, all in one step. False: none was stored, and each has to be stored by itself. */
  storeEnded(owner: string, tasks: readonly EndedTask[]): Promise<boolean>;
  atEndOfTurn(run: () => void): void;
  /** What was stored in this turn goes out now, and not at its end. */
  sendNow(): void;
}

interface EarlyTask {
  readonly start: NewTask;
  readonly stored: Promise<Maybe<"full">>;
  settle(stored: Promise<Maybe<"full">>): void;
  ended: Maybe<EndedTask>;
  /** Set when it is being stored. */
  isSent: boolean;
}

type Turn = Map<string, EarlyTask>;

/** Tasks of one owner that have ended and are stored by the next script. */
interface EndedTasks {
  readonly tasks: EarlyTask[];
  bytes: number;
}

/**
 * Tasks that are answered before they are stored, at the end of this turn of the event loop. Those that end until then are stored together
 * and never leased; the others are created as any task, and their entries follow.
 */
export class EarlyTasks {
  readonly #storing: EarlyStoring;
  readonly #limits: TaskLimits;
  /** Of this turn, by id. A new map for each turn: one that lasts keeps what it held from the garbage collector whenever it grows. */
  #waiting: Turn = new Map();
  /** Those of this turn that have ended and are not sent yet, by owner. */
  #ended = new Map<string, EndedTasks>();
  /** Of earlier turns, until all of a turn are stored. */
  #sent: Turn[] = [];

  constructor(storing: EarlyStoring, limits: TaskLimits) {
    this.#storing = storing;
    this.#limits = limits;
  }

  add(start: NewTask): Created {
    let settle: EarlyTask["settle"] = () => undefined;
    const stored = new Promise<Maybe<"full">>((resolve) => {
      settle = resolve;
    });
    const { id } = start.task;
    const task: EarlyTask = { start, stored, settle, ended: undefined, isSent: false };
    this.#waiting.set(id, task);
    if (this.#waiting.size === 1) this.#storing.atEndOfTurn(this.flush);
    return { made: true, epoch: 1, stored };
  }

  /** Undefined for a task that is stored, or is none of these. */
  append(taskId: string, batch: Batch): Maybe<Promise<Appended>> {
    const task = this.#find(taskId);
    if (task === undefined) return undefined;
    const ended = task.isSent || task.ended !== undefined ? undefined : this.#endedBy(task.start, batch);
    if (ended !== undefined) this.#end(task, ended);
    const follow = (refused: Maybe<"full">): Appended | Promise<Appended> => {
      if (refused !== undefined) return CLOSED;
      return ended !== undefined && task.ended === ended ? APPENDED : this.#storing.append(taskId, batch);
    };
    return task.stored.then(follow, () => CLOSED);
  }

  /** Resolves when the task is stored or refused; undefined if nothing is to be waited for. */
  settled(taskId: string): Maybe<Promise<unknown>> {
    const task = this.#find(taskId);
    if (task === undefined) return undefined;
    this.flush();
    return task.stored.catch(() => undefined);
  }

  /** Sends all that wait. */
  readonly flush = (): void => {
    const turn = this.#waiting;
    if (turn.size === 0) return;
    this.#waiting = new Map();
    this.#sent.push(turn);
    for (const task of turn.values()) {
      if (task.isSent || task.ended !== undefined) continue;
      task.isSent = true;
      task.settle(this.#create(task));
    }
    for (const [owner, { tasks }] of this.#ended) this.#store(owner, tasks);
    this.#ended = new Map();
    void this.#forget(turn);
  };

  #find(taskId: string): Maybe<EarlyTask> {
    const waiting = this.#waiting.get(taskId);
    if (waiting !== undefined) return waiting;
    for (const turn of this.#sent) {
      const task = turn.get(taskId);
      if (task !== undefined) return task;
    }
    return undefined;
  }

  async #forget(turn: Turn): Promise<void> {
    await Promise.allSettled(Array.from(turn.values(), ({ stored }) => stored));
    this.#sent = this.#sent.filter((each) => each !== turn);
  }

  /** Only what leaves nothing to decide: another batch, or one that may be refused, is for the script that appends. */
  #endedBy(start: NewTask, batch: Batch): Maybe<EndedTask> {
    const { epoch, after, events } = batch;
    const status = lastStatus(events);
    if (epoch !== 1 || after !== 1 || status === undefined || !isTerminal(status.state)) return undefined;
    try {
      const bytes = eventsSize([{ kind: "task", task: start.task }]) + eventsSize(events);
      const { journalEntries, journalBytes } = this.#limits;
      if (events.length + 1 > journalEntries || bytes > journalBytes) return undefined;
      const ended = { start, ending: batch, bytes };
      return { ...ended, values: this.#storing.encodeEnded(ended) };
    } catch {
      // What cannot be stored fails by itself, and not the others of the turn with it.
      return undefined;
    }
  }

  #end(task: EarlyTask, ended: EndedTask): void {
    task.ended = ended;
    const { owner } = task.start;
    const together = this.#ended.get(owner) ?? { tasks: [], bytes: 0 };
    this.#ended.set(owner, together);
    together.tasks.push(task);
    together.bytes += ended.bytes;
    if (together.tasks.length < TASKS_AT_ONCE && together.bytes <= BYTES_AT_ONCE) return;
    this.#ended.delete(owner);
    this.#store(owner, together.tasks);
    this.#storing.sendNow();
  }

  #store(owner: string, tasks: readonly EarlyTask[]): void {
    for (const task of tasks) task.isSent = true;
    const storing = this.#storing.storeEnded(
      owner,
      tasks.flatMap(({ ended }) => ended ?? []),
    );
    for (const task of tasks) task.settle(storing.then((done) => (done ? undefined : this.#alone(task))));
  }

  #alone(task: EarlyTask): Promise<Maybe<"full">> {
    task.ended = undefined;
    return this.#create(task);
  }

  async #create({ start }: EarlyTask): Promise<Maybe<"full">> {
    return (await this.#storing.create(start)).made ? undefined : "full";
  }
}
