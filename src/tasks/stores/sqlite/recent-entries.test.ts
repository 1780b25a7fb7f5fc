import { expect, test } from "vitest";
import { chunk, status } from "../../../../test/helpers/stores/contract-samples.js";
import type { TaskEvent } from "../../../envelope/index.js";
import { RecentEntries } from "./recent-entries.js";

function entries(...awaited: readonly string[]) {
  const recent = new RecentEntries((taskId) => awaited.includes(taskId));
  const write = (taskId: string, first: number, ...events: readonly TaskEvent[]) =>
    recent.note({ taskId, first, events, bytes: 100 });
  return { recent, write };
}

test("entries of one commit are kept as one journal, and continued by the next", () => {
  const { recent, write } = entries();
  write("t", 1, status("working"));
  write("t", 2, chunk("a"));
  expect(recent.upTo("t", 1)).toBeUndefined();
  recent.keep();
  write("t", 3, chunk("b"));
  recent.keep();
  expect(recent.upTo("t", 3)).toEqual([status("working"), chunk("a"), chunk("b")]);
  expect(recent.upTo("t", 4)).toBeUndefined();
});

test("entries of an undone transaction are not kept", () => {
  const { recent, write } = entries();
  write("t", 1, status("working"));
  recent.forget();
  recent.keep();
  expect(recent.upTo("t", 1)).toBeUndefined();
});

test("a task that ended is kept for those who wait for it, and for nobody else", () => {
  const { recent, write } = entries("read");
  for (const task of ["read", "unread", "later"]) write(task, 1, status("working"));
  for (const task of ["read", "unread"]) write(task, 2, status("completed"));
  recent.keep();
  write("later", 2, status("completed"));
  recent.keep();
  expect(["read", "unread", "later"].map((task) => recent.upTo(task, 2)?.length)).toEqual([2, undefined, undefined]);
});

test("the journal of a task whose beginning is not there is not kept", () => {
  const { recent, write } = entries();
  write("t", 5, chunk("a"));
  recent.keep();
  expect(recent.upTo("t", 1)).toBeUndefined();
});
