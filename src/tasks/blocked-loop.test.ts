import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { sendOf } from "../../test/helpers/tasks.js";
import { type AgentEvent, startCall, systemIds } from "../envelope/index.js";
import { createRuntime, type Runtime } from "./runtime.js";
import type { Store } from "./store.js";
import { createMemoryStore } from "./stores/memory.js";
import { openSqliteStore } from "./stores/sqlite.js";

/** A lease is much longer than a renewal takes on a busy machine. */
const LIMITS = { leaseMs: 1_000, renewEveryMs: 50 };
const folder = mkdtempSync(join(tmpdir(), "koine-blocked-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const opened: { close(drainMs: number): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close(0);
});

/** Nothing of this process runs meanwhile: no timer, no input, no output. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function runtimeOn(store: Store, work: Promise<void>): Runtime {
  const handle = () => work.then(() => "done");
  const runtime = createRuntime({ agents: new Map([["slow", { handle }]]), store, ids: systemIds, limits: LIMITS });
  opened.push(runtime);
  return runtime;
}

const sent = (runtime: Runtime): Promise<AgentEvent> =>
  runtime.handler(sendOf("x", { task: "always" }), startCall()) as Promise<AgentEvent>; // one answer

describe.each([
  ["memory", async (): Promise<Store> => createMemoryStore({ now: Date.now, limits: LIMITS })],
  ["SQLite", (): Promise<Store> => openSqliteStore({ file: join(folder, "tasks.db"), now: Date.now, limits: LIMITS })],
])("an event loop that is blocked for longer than a lease, %s", (_, open) => {
  test("costs nobody a task: every holder renews before anybody takes over", async () => {
    const store = await open();
    opened.push({ close: async () => store.close?.() });
    let finish: () => void = () => undefined;
    const work = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const runtimes = [runtimeOn(store, work), runtimeOn(store, work), runtimeOn(store, work)];
    const answers = runtimes.map(sent);
    await new Promise((resolve) => setTimeout(resolve, 60));
    block(2 * LIMITS.leaseMs);
    // Long enough for every timer that was due, and for the take-over that follows.
    await new Promise((resolve) => setTimeout(resolve, 3 * LIMITS.renewEveryMs));
    finish();
    const states = (await Promise.all(answers)).map((event) => (event.kind === "task" ? event.task.status.state : event.kind));
    expect(states).toEqual(["completed", "completed", "completed"]);
  });
});
