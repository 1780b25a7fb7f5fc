import { type Envelope, type Maybe, TaskFold } from "../../../envelope/index.js";
import type { Snapshot } from "../../store.js";
import { eventFrom, messageFrom, taskFrom } from "../stored-form.js";
import { listOf, numberOf, textOf, textsOf } from "./replies.js";

/** A task put together, and how much work that was. */
export interface Folded extends Snapshot {
  /** How many of the caller's messages it includes. */
  readonly messages: number;
  /** Entries that came behind the snapshot it was begun from. */
  readonly applied: number;
}

/** Folds a script's reply: an optional snapshot, the entries after it, and the messages in between. */
export function foldedFrom(answer: unknown): Folded {
  const [at, text, from, included, entryTexts, messageTexts] = listOf(answer);
  const seq = numberOf(at);
  const entries = textsOf(entryTexts);
  const messages = textsOf(messageTexts).map(callerMessageFrom);
  const started = textOf(text);
  let folded = numberOf(from);
  let next = 0;
  let used = 0;
  const fold = started === "" ? firstFold(entries[used++]) : new TaskFold(taskFrom(started));
  if (started === "") folded = 1;
  const applyMessages = (): void => {
    for (let found = messages[next]; found !== undefined && found.after <= folded; found = messages[next]) {
      fold.addMessage(messageFrom(found.text));
      next += 1;
    }
  };
  applyMessages();
  for (let entry = entries[used]; entry !== undefined; entry = entries[used]) {
    fold.apply(eventFrom(entry));
    used += 1;
    folded += 1;
    applyMessages();
  }
  return { task: fold.snapshot(), seq, messages: numberOf(included) + next, applied: entries.length };
}

function firstFold(entry: Maybe<string>): TaskFold {
  const first = entry === undefined ? undefined : eventFrom(entry);
  if (first?.kind !== "task") throw new Error("a journal begins with its task");
  return new TaskFold(first.task);
}

/** A message as stored: the entry it came after, then the message. */
function callerMessageFrom(text: string): { readonly after: number; readonly text: string } {
  const space = text.indexOf(" ");
  return { after: Number(text.slice(0, space)), text: text.slice(space + 1) };
}

/** The message of a turn: a stored message, or the first entry of the task, which is JSON. */
export function turnMessageFrom(answer: unknown): Envelope {
  const text = textOf(answer);
  if (!text.startsWith("{")) return messageFrom(callerMessageFrom(text).text);
  const first = eventFrom(text);
  const message = first.kind === "task" ? first.task.history.at(-1) : undefined;
  if (message === undefined) throw new Error("a task begins with a message");
  return message;
}
