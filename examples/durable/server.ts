/** An agent with its tasks in SQLite: `tsx server.ts FILE PORT`. */
import { agent, openSqliteStore, serve, textOf } from "koine";

const PAGES = 6;
const [file = "", port = "0"] = process.argv.slice(2);

const printer = agent({
  name: "printer",
  description: "Prints six pages, and continues after a restart",
  // May be started again after a crash; without it the task would fail.
  restartable: true,
  async *handle(_message, task) {
    const before = await task.snapshot();
    const printed = textOf(before?.artifacts[0]?.parts ?? []).match(/\d/g)?.length ?? 0;
    for (let page = printed + 1; page <= PAGES; page++) {
      yield task.artifact(`[${page}]`, { id: "print", append: page > 1, last: page === PAGES });
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    return task.complete("all pages printed");
  },
});

const store = await openSqliteStore({ file, now: Date.now });
// Short leases: the task of a dead process is taken over when its lease expires.
const taskLimits = { leaseMs: 1_500, renewEveryMs: 300, lookAgainMs: 200 };
const server = await serve(printer, { store, taskLimits, port: Number(port) });
console.log(server.url);
