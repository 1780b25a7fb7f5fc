import { type Envelope, type Task, type TaskEvent, TaskFold } from "../../../envelope/index.js";
import type { Snapshot } from "../../store.js";
import type { MessagePlace, StoredContent } from "../stored-content.js";
import { contentOf, type TaskKeys } from "./keys.js";
import { listOf, numberOf, textOf, textsOf } from "./replies.js";

/** A task put together, and how much work that was. */
export interface Folded extends Snapshot {
  /** How many of the caller's messages it includes. */
  readonly messages: number;
  /** Entries that came behind the snapshot it was begun from. */
  readonly applied: number;
}

/** Folds a script's reply: an optional snapshot, the entries after it, and the messages in between. */
export function foldedFrom(content: StoredContent, keys: TaskKeys, answer: unknown): Folded {
  const of = contentOf(keys);
  const [at, text, from, included, entryTexts, messageTexts] = listOf(answer);
  const seq = numberOf(at);
  const entries = textsOf(entryTexts);
  const before = numberOf(included);
  const messages = textsOf(messageTexts).map((each, index) => callerMessageFrom(before + index + 1, each));
  const started = textOf(text);
  let folded = numberOf(from);
  content.requireAll(of, entries.length, seq - folded);
  let next = 0;
  let used = 0;
  const fold = new TaskFold(
    started === ""
      ? firstTask(content.eventFrom(of, 1, entries[used++] ?? ""))
      : content.snapshotFrom(of, { seq: folded, messages: before }, started),
  );
  if (started === "") folded = 1;
  const applyMessages = (): void => {
    for (let found = messages[next]; found !== undefined && found.place.after <= folded; found = messages[next]) {
      fold.addMessage(content.messageFrom(of, found.place, found.text));
      next += 1;
    }
  };
  applyMessages();
  for (let entry = entries[used]; entry !== undefined; entry = entries[used]) {
    used += 1;
    folded += 1;
    fold.apply(content.eventFrom(of, folded, entry));
    applyMessages();
  }
  return { task: fold.snapshot(), seq, messages: before + next, applied: entries.length };
}

function firstTask(first: TaskEvent): Task {
  if (first.kind !== "task") throw new Error("a journal begins with its task");
  return first.task;
}

/** A message as stored: the entry it came after, then the message. */
function callerMessageFrom(number: number, text: string): { readonly place: MessagePlace; readonly text: string } {
  const space = text.indexOf(" ");
  return { place: { number, after: Number(text.slice(0, space)) }, text: text.slice(space + 1) };
}

/** The message of a turn: its number and a stored message, or 0 and the first entry of the task. */
export function turnMessageFrom(content: StoredContent, keys: TaskKeys, answer: unknown): Envelope {
  const [at, found] = listOf(answer);
  const number = numberOf(at);
  const of = contentOf(keys);
  if (number > 0) {
    const { place, text } = callerMessageFrom(number, textOf(found));
    return content.messageFrom(of, place, text);
  }
  const message = firstTask(content.eventFrom(of, 1, textOf(found))).history.at(-1);
  if (message === undefined) throw new Error("a task begins with a message");
  return message;
}
