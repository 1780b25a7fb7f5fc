import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Holdings } from "./holdings.js";
import { loadLibrary } from "./library.js";
import { openFile } from "./open-file.js";

const folder = mkdtempSync(join(tmpdir(), "koine-holdings-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("what an undone transaction added is not counted, what a committed one added is", async () => {
  const connection = openFile(await loadLibrary(), join(folder, "t.db"), "normal");
  const holdings = new Holdings(connection);
  holdings.begin();
  expect(holdings.all().size).toBe(0);
  holdings.committed();
  holdings.begin();
  holdings.add("ann", 1, 10, 0);
  holdings.committed();
  holdings.begin();
  expect([...holdings.all()]).toEqual([["ann", { tasks: 1, bytes: 10, ended: 0 }]]);
  holdings.add("bob", 1, 10, 0);
  // Not committed: the next begins with what the file holds.
  holdings.begin();
  expect(holdings.all().size).toBe(0);
  connection.close();
});
