import type { Created, Store } from "../../../src/tasks/store.js";
import { batch, chunk, message, OWNER, read, same, shape, start, status } from "./contract-samples.js";
import type { StoreRequirement } from "./store-requirement.js";

/** Why an early task was not stored in the end. A store may also know at once. */
async function refusedAfterAll(created: Created): Promise<string | undefined> {
  if (!created.made) return created.because;
  return created.stored;
}

async function createEarly(store: Store, id: string): Promise<Created> {
  return store.create({ ...start(id), early: true });
}

/** Requirements of tasks that may be answered before they are stored. */
export const earlyContract: readonly StoreRequirement[] = [
  {
    name: "a task that is made early and ended at once is there with all its entries",
    async check(makeStore) {
      const { store } = await makeStore({});
      const created = await createEarly(store, "t");
      same([created.made, created.made && created.epoch], [true, 1]);
      same((await store.append("t", batch(1, 1, [status("working", "w1"), chunk("a"), status("completed")]))).ok, true);
      same(await refusedAfterAll(created), undefined);
      same(await read(store, "t"), ["1 task submitted", "2 status working", "3 artifact", "4 status completed"]);
      same(await read(store, "t", 1, 2), ["2 status working", "3 artifact"]);
      same(shape(await store.snapshot("t", OWNER, 3)), { seq: 3, state: "working", text: "a", history: ["hello"] });
      same((await store.list(OWNER, { kind: "task.list" })).tasks.length, 1);
    },
  },
  {
    name: "a task that is made early and goes on is held, and takes messages and a cancel of the same turn",
    async check(makeStore) {
      const { store, advance } = await makeStore({});
      const created = await createEarly(store, "t");
      const [appended, queued, listed, canceled] = await Promise.all([
        store.append("t", batch(1, 1, [chunk("a")])),
        store.enqueue("t", OWNER, message("and?")),
        store.list(OWNER, { kind: "task.list" }),
        store.requestCancel("t", OWNER),
      ]);
      same([appended.ok, queued, listed.tasks.length], [true, "queued", 1]);
      same(canceled, { outcome: "notified", holder: "h-1" });
      same(await refusedAfterAll(created), undefined);
      advance(1_001);
      same(
        (await store.takeOver({ holder: "h-2", leaseMs: 1_000 }, 10)).map(({ taskId, seq, epoch }) => [taskId, seq, epoch]),
        [["t", 2, 2]],
      );
    },
  },
  {
    name: "of early tasks of one turn each has its own entries",
    async check(makeStore) {
      const { store } = await makeStore({});
      const ids = Array.from({ length: 23 }, (_, index) => `t${index}`);
      const all = await Promise.all(
        ids.map(async (id) => {
          const created = await createEarly(store, id);
          await store.append(id, batch(1, 1, [chunk(id), status("completed")]));
          return refusedAfterAll(created);
        }),
      );
      same(
        all.filter((refused) => refused !== undefined),
        [],
      );
      for (const id of ids)
        same(shape(await store.snapshot(id, OWNER)), { seq: 3, state: "completed", text: id, history: ["hello"] });
    },
  },
  {
    name: "an early task without room is refused, with its entries, and leaves nothing",
    async check(makeStore) {
      const { store } = await makeStore({ keptTasks: 1 });
      await store.create(start("first"));
      const created = await createEarly(store, "t");
      const appended = await store.append("t", batch(1, 1, [chunk("a"), status("completed")]));
      same(await refusedAfterAll(created), "full");
      same(appended, { ok: false, because: "closed" });
      same(await store.snapshot("t", OWNER), undefined);
      same(await read(store, "first"), ["1 task submitted"]);
    },
  },
];
