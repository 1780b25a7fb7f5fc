import { type Envelope, type Maybe, TaskFold } from "../../../envelope/index.js";
import type { Snapshot } from "../../store.js";
import { eventFrom, messageFrom, taskFrom } from "../stored-form.js";
import { listOf, numberOf, textOf, textsOf } from "./answers.js";

/** A task put together, and how much work that was. */
export interface Folded extends Snapshot {
  /** Messages of the caller that are in it. */
  readonly heard: number;
  /** Entries that came behind the snapshot it was begun from. */
  readonly applied: number;
}

/** Folds what a script gave: a snapshot or nothing, the entries behind it, and what was heard in between. */
export function foldedFrom(answer: unknown): Folded {
  const [at, text, from, said, entryTexts, heardTexts] = listOf(answer);
  const seq = numberOf(at);
  const entries = textsOf(entryTexts);
  const heard = textsOf(heardTexts).map(heardFrom);
  const started = textOf(text);
  let folded = numberOf(from);
  let next = 0;
  let used = 0;
  const fold = started === "" ? firstFold(entries[used++]) : new TaskFold(taskFrom(started));
  if (started === "") folded = 1;
  const hear = (): void => {
    for (let said = heard[next]; said !== undefined && said.after <= folded; said = heard[next]) {
      fold.addMessage(messageFrom(said.text));
      next += 1;
    }
  };
  hear();
  for (let entry = entries[used]; entry !== undefined; entry = entries[used]) {
    fold.apply(eventFrom(entry));
    used += 1;
    folded += 1;
    hear();
  }
  return { task: fold.snapshot(), seq, heard: numberOf(said) + next, applied: entries.length };
}

function firstFold(entry: Maybe<string>): TaskFold {
  const first = entry === undefined ? undefined : eventFrom(entry);
  if (first?.kind !== "task") throw new Error("a journal begins with its task");
  return new TaskFold(first.task);
}

/** A message as it is kept: the entry it was said after, then itself. */
function heardFrom(text: string): { readonly after: number; readonly text: string } {
  const space = text.indexOf(" ");
  return { after: Number(text.slice(0, space)), text: text.slice(space + 1) };
}

/** What a turn hears: a message as it is kept, or the entry a task begins with, which is JSON. */
export function turnMessageFrom(answer: unknown): Envelope {
  const text = textOf(answer);
  if (!text.startsWith("{")) return messageFrom(heardFrom(text).text);
  const first = eventFrom(text);
  const said = first.kind === "task" ? first.task.history.at(-1) : undefined;
  if (said === undefined) throw new Error("a task begins with a message");
  return said;
}
