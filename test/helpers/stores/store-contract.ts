import { batch, chunk, LEASE, message, OWNER, read, rejects, same, shape, start, status } from "./contract-samples.js";
import { earlyContract } from "./store-contract-early.js";
import { pushContract } from "./store-contract-push.js";
import { recordRoomContract } from "./store-contract-record-room.js";
import { recordsContract } from "./store-contract-records.js";
import type { StoreRequirement } from "./store-requirement.js";

/** Requirements of any store of the task runtime, as data and functions for any test runner. */
export const storeContract: readonly StoreRequirement[] = [
  {
    name: "the first entry is the task itself",
    async check(makeStore) {
      const { store } = await makeStore({});
      await store.create(start("t"));
      same(await read(store, "t"), ["1 task submitted"]);
      same((await store.snapshot("t", OWNER))?.seq, 1);
    },
  },
  {
    name: "appends are numbered without gap, and wake the readers",
    async check(makeStore) {
      const { store } = await makeStore({});
      await store.create(start("t"));
      let notified = 0;
      const off = store.wake("t", () => {
        notified += 1;
      });
      same(await store.append("t", batch(1, 1, [chunk("a"), chunk("b", true)])), {
        ok: true,
        cancelRequested: false,
        pushDue: false,
      });
      off();
      same((await store.append("t", batch(1, 3, [status("completed")]))).ok, true);
      same(notified, 1);
      same(await read(store, "t"), ["1 task submitted", "2 artifact", "3 artifact", "4 status completed"]);
      same(await read(store, "t", 2, 1), ["3 artifact"]);
      same((await store.read("t", OWNER, 4, 10))?.closed, true);
    },
  },
  {
    name: "a late writer is refused by sequence, by epoch, and by a terminal state",
    async check(makeStore) {
      const { store, advance } = await makeStore({});
      await store.create(start("t"));
      same(await store.append("t", batch(1, 0, [chunk("a")])), { ok: false, because: "sequence" });
      same(await store.append("t", batch(1, 2, [chunk("a")])), { ok: false, because: "sequence" });
      advance(1_001);
      same((await store.takeOver({ holder: "h-2", leaseMs: 1_000 }, 10)).length, 1);
      same(await store.append("t", batch(1, 1, [chunk("a")])), { ok: false, because: "fenced" });
      same((await store.append("t", batch(2, 1, [status("failed")]))).ok, true);
      same(await store.append("t", batch(2, 2, [chunk("a")])), { ok: false, because: "closed" });
    },
  },
  {
    name: "a snapshot is the fold of the journal, now or at an earlier entry",
    async check(makeStore) {
      const { store } = await makeStore({});
      await store.create(start("t"));
      await store.append("t", batch(1, 1, [chunk("a"), status("working", "w1"), chunk("b", true)]));
      same(shape(await store.snapshot("t", OWNER)), { seq: 4, state: "working", text: "ab", history: ["hello"] });
      same(shape(await store.snapshot("t", OWNER, 2)), { seq: 2, state: "submitted", text: "a", history: ["hello"] });
      await store.enqueue("t", OWNER, message("and?"));
      await store.append("t", batch(1, 4, [status("working", "w2"), chunk("c", true)]));
      same(shape(await store.snapshot("t", OWNER)), { seq: 6, state: "working", text: "abc", history: ["hello", "and?", "w1"] });
      same(shape(await store.snapshot("t", OWNER, 4)), { seq: 4, state: "working", text: "ab", history: ["hello", "and?"] });
      same(await store.snapshot("t", OWNER, 7), undefined);
      same(await store.snapshot("t", OWNER, 0), undefined);
    },
  },
  {
    name: "a task of another owner is not found",
    async check(makeStore) {
      const { store } = await makeStore({});
      await store.create(start("t"));
      for (const [taskId, owner] of [
        ["t", "key:bob"],
        ["none", OWNER],
      ] as const) {
        same(await store.snapshot(taskId, owner), undefined);
        same(await store.read(taskId, owner, 0, 10), undefined);
        same(await store.facts(taskId, owner), undefined);
        same(await store.enqueue(taskId, owner, message("x")), "missing");
        same(await store.resume(taskId, owner, message("x"), LEASE), { ok: false, because: "missing" });
        same(await store.requestCancel(taskId, owner), undefined);
        same(await store.pushes(taskId, owner), undefined);
        same(await store.setPush(owner, { taskId, id: "p", url: "https://x.example" }), "missing");
        same(await store.deletePush(taskId, owner, "p"), false);
      }
    },
  },
  {
    name: "a key starts one task: repeated, conflict, expired, free again",
    async check(makeStore) {
      const { store, advance } = await makeStore({ keptTasksMs: 100 });
      const key = { key: "k", digest: "d", keepMs: 1_000 };
      same(await store.create({ ...start("t"), key }), { made: true, epoch: 1 });
      same(await store.create({ ...start("u"), key }), { made: false, because: "repeated", taskId: "t" });
      same(await store.create({ ...start("u"), key: { ...key, digest: "e" } }), { made: false, because: "conflict" });
      same((await store.create({ ...start("v"), key, owner: "key:bob" })).made, true);
      same((await store.create({ ...start("w"), key, agent: "other" })).made, true);
      await store.append("t", batch(1, 1, [status("completed")]));
      advance(100);
      same(await store.create({ ...start("u"), key }), { made: false, because: "expired" });
      advance(900);
      same((await store.create({ ...start("u"), key })).made, true);
    },
  },
  {
    name: "a message to a running task is queued, up to the limit, and delays its end",
    async check(makeStore) {
      const { store } = await makeStore({ inputsPerTask: 1 });
      await store.create(start("t"));
      same(await store.enqueue("t", OWNER, message("more")), "queued");
      same(await store.enqueue("t", OWNER, message("much more")), "busy");
      const ending = { ...batch(1, 1, [status("completed")]), unlessQueued: true };
      same(await store.append("t", ending), { ok: false, because: "queued" });
      same(await store.nextTurn("t", 9, 1), undefined);
      const next = await store.nextTurn("t", 1, 1);
      same([next?.message.id, next?.turnState.turn], ["m-more", 2]);
      same(await store.nextTurn("t", 1, 1), next);
      same(await store.nextTurn("t", 1, 2), undefined);
      same((await store.append("t", ending)).ok, true);
      same(await store.enqueue("t", OWNER, message("late")), "closed");
    },
  },
  {
    name: "an interrupted task is resumed by one holder, with a fresh epoch, its state and its history",
    async check(makeStore) {
      const { store } = await makeStore({});
      await store.create(start("t"));
      same(await store.resume("t", OWNER, message("x"), LEASE), { ok: false, because: "running" });
      await store.append("t", { ...batch(1, 1, [status("input-required", "which?")]), state: { n: 1 } });
      same(await store.enqueue("t", OWNER, message("x")), "interrupted");
      const resumed = await store.resume("t", OWNER, message("this", "k"), LEASE);
      const { task, ...rest } = resumed.ok ? resumed : { task: undefined };
      same(rest, { ok: true, epoch: 2, seq: 3, turn: 2, state: { n: 1 } });
      same(
        task?.history.map(({ id }) => id),
        ["m-hello", "m-which?", "m-this"],
      );
      same(await store.resume("t", OWNER, message("this", "k"), LEASE), { ok: false, because: "repeated" });
      same(await store.resume("t", OWNER, message("that"), LEASE), { ok: false, because: "running" });
      same(await store.append("t", batch(1, 3, [chunk("a")])), { ok: false, because: "fenced" });
      same(await read(store, "t", 2), ["3 status working"]);
    },
  },
  {
    name: "a cancel is stored: the holder is notified, and a task without a holder is canceled at once",
    async check(makeStore) {
      const { store } = await makeStore({});
      await store.create(start("t"));
      same(await store.requestCancel("t", OWNER), { outcome: "notified", holder: "h-1" });
      same(await store.renew([{ taskId: "t", epoch: 1 }], 1_000), [{ ok: true, cancelRequested: true, pushDue: false }]);
      same(await store.append("t", batch(1, 1, [chunk("a")])), { ok: true, cancelRequested: true, pushDue: false });
      await store.append("t", batch(1, 2, [status("canceled")]));
      same(await store.requestCancel("t", OWNER), { outcome: "closed", state: "canceled" });
      await store.create(start("u"));
      await store.append("u", batch(1, 1, [status("auth-required")]));
      same(await store.requestCancel("u", OWNER), { outcome: "canceled", state: "canceled" });
      same(await read(store, "u", 2), ["3 status canceled"]);
    },
  },
  {
    name: "a renewed lease is kept; an expired one is taken over once; idle tasks need none",
    async check(makeStore) {
      const { store, advance } = await makeStore({});
      await store.create(start("kept"));
      await store.create(start("lost"));
      await store.create(start("rest"));
      await store.append("rest", batch(1, 1, [status("input-required")]));
      advance(600);
      same(
        await store.renew(
          [
            { taskId: "kept", epoch: 1 },
            { taskId: "kept", epoch: 7 },
          ],
          1_000,
        ),
        [
          { ok: true, cancelRequested: false, pushDue: false },
          { ok: false, because: "fenced" },
        ],
      );
      advance(600);
      const taken = await store.takeOver({ holder: "h-2", leaseMs: 1_000 }, 10);
      const rest = { owner: OWNER, agent: "a", contextId: "c", seq: 1, turn: 1, state: undefined, cancelRequested: false };
      same(taken, [{ taskId: "lost", epoch: 2, message: message("hello"), ...rest }]);
      same(await store.takeOver({ holder: "h-3", leaseMs: 1_000 }, 10), []);
    },
  },
  {
    name: "a task that is taken over has the message of its turn, not a queued one",
    async check(makeStore) {
      const { store, advance } = await makeStore({});
      const heir = { holder: "h-2", leaseMs: 1_000 };
      const taken = async () => {
        advance(1_001);
        return (await store.takeOver(heir, 10)).map(({ turn, message }) => `${turn} ${message.id}`);
      };
      await store.create(start("t"));
      for (const text of ["two", "three"]) await store.enqueue("t", OWNER, message(text));
      same(await taken(), ["1 m-hello"]);
      await store.nextTurn("t", 2, 1);
      same(await taken(), ["2 m-two"]);
      await store.nextTurn("t", 3, 2);
      same(await taken(), ["3 m-three"]);
      await store.append("t", batch(4, 1, [status("input-required")]));
      await store.resume("t", OWNER, message("four"), heir);
      await store.enqueue("t", OWNER, message("five"));
      same(await taken(), ["4 m-four"]);
    },
  },
  {
    name: "a journal has a limit in entries and bytes; a final status is always accepted",
    async check(makeStore) {
      const { store } = await makeStore({ journalEntries: 3, journalBytes: 5_000 });
      await store.create(start("t"));
      same((await store.append("t", batch(1, 1, [chunk("a"), chunk("b", true)]))).ok, true);
      same(await store.append("t", batch(1, 3, [chunk("c", true)])), { ok: false, because: "full" });
      same(await store.enqueue("t", OWNER, message("x")), "full");
      same((await store.append("t", batch(1, 3, [status("failed")]))).ok, true);
      await store.create(start("u"));
      same(await store.append("u", batch(1, 1, [chunk("x".repeat(10_000))])), { ok: false, because: "full" });
      same(await read(store, "u"), ["1 task submitted"]);
    },
  },
  {
    name: "lists an owner's tasks by filter, newest status first, in pages",
    async check(makeStore) {
      const { store, advance } = await makeStore({});
      for (const id of ["b", "a", "c"]) await store.create(start(id));
      await store.create({ ...start("d"), owner: "key:bob" });
      advance(5);
      await store.append("c", batch(1, 1, [status("completed", undefined, 1_005)]));
      const first = await store.list(OWNER, { kind: "task.list", pageSize: 2 });
      same([first.tasks.map(({ id }) => id), first.totalSize, first.pageSize], [["c", "a"], 3, 2]);
      const second = await store.list(OWNER, { kind: "task.list", pageSize: 2, pageToken: first.nextPageToken });
      same([second.tasks.map(({ id }) => id), second.totalSize, second.nextPageToken], [["b"], 3, ""]);
      const count = async (filter: object) => (await store.list(OWNER, { kind: "task.list", ...filter })).totalSize;
      same(await count({ state: "submitted" }), 2);
      same(await count({ changedSince: 1_005 }), 1);
      same(await count({ contextId: "elsewhere" }), 0);
      await rejects(store.list(OWNER, { kind: "task.list", pageToken: "?" }), "invalid_message");
    },
  },
  {
    name: "push configurations are stored by id, up to the limit",
    async check(makeStore) {
      const { store } = await makeStore({ pushConfigsPerTask: 1 });
      await store.create(start("t"));
      const config = { taskId: "t", id: "p", url: "https://x.example", token: "secret" };
      same(await store.setPush(OWNER, config), "stored");
      same(await store.setPush(OWNER, { ...config, url: "https://y.example" }), "stored");
      same(await store.setPush(OWNER, { ...config, id: "q" }), "full");
      const delivery = { state: "waiting", seq: 1, failures: 0 };
      same(await store.pushes("t", OWNER), [{ ...config, url: "https://y.example", delivery }]);
      same([await store.deletePush("t", OWNER, "p"), await store.deletePush("t", OWNER, "p")], [true, true]);
      same(await store.pushes("t", OWNER), []);
    },
  },
  {
    name: "at most keptTasks are kept: the task that ended first is evicted first, running ones never",
    async check(makeStore) {
      const { store } = await makeStore({ keptTasks: 3 });
      for (const id of ["run", "old", "new"]) await store.create(start(id));
      await store.append("old", batch(1, 1, [status("completed")]));
      await store.append("new", batch(1, 1, [status("completed")]));
      same((await store.create(start("next"))).made, true);
      const kept = await Promise.all(
        ["run", "old", "new", "next"].map(async (id) => (await store.facts(id, OWNER)) !== undefined),
      );
      same(kept, [true, false, true, true]);
      same((await store.create(start("last"))).made, true);
      same(await store.create(start("none")), { made: false, because: "full" });
    },
  },
  {
    name: "whoever keeps most makes room: no task of another subject goes for it, finished or waiting for input",
    async check(makeStore) {
      const { store } = await makeStore({ keptTasks: 5 });
      const other = "bearer:bob";
      for (const id of ["done", "asks"]) await store.create({ ...start(id), owner: other });
      await store.append("done", batch(1, 1, [status("completed")]));
      await store.append("asks", batch(1, 1, [status("input-required")]));
      // One subject in many tenants.
      for (let n = 1; n <= 9; n++) {
        const owner = `bearer@${String(n).length}:${n}:ann`;
        same((await store.create({ ...start(`flood-${n}`), owner })).made, true);
        await store.append(`flood-${n}`, batch(1, 1, [status(n % 2 === 0 ? "completed" : "input-required")]));
      }
      same(
        [(await store.facts("done", other))?.state, (await store.facts("asks", other))?.state],
        ["completed", "input-required"],
      );
    },
  },
  {
    name: "keptTasks counts a subject over all its tenants: the task that ended first goes, in whichever tenant",
    async check(makeStore) {
      const { store, advance } = await makeStore({ keptTasks: 3, keptTasksMs: 100 });
      const inTenant = (tenant: string): string => `bearer@1:${tenant}:ann`;
      const make = async (tenant: string): Promise<boolean> =>
        (await store.create({ ...start(`in-${tenant}`), owner: inTenant(tenant) })).made;
      const end = (tenant: string, state: "completed" | "input-required") =>
        store.append(`in-${tenant}`, batch(1, 1, [status(state)]));
      const kept = async (): Promise<string> => {
        const all = [..."abcdefghi"];
        const found = await Promise.all(all.map((tenant) => store.facts(`in-${tenant}`, inTenant(tenant))));
        return all.filter((_, index) => found[index] !== undefined).join("");
      };
      for (const tenant of "abc") await make(tenant);
      await end("b", "completed");
      await end("a", "completed");
      same([await make("d"), await kept()], [true, "acd"]);
      same([await make("e"), await kept()], [true, "cde"]);
      // All of them run.
      same([await make("f"), await kept()], [false, "cde"]);
      await end("d", "input-required");
      await end("c", "input-required");
      same([await make("f"), await kept()], [true, "cef"]);
      // One that runs again stays; one whose time is over leaves its place.
      await store.resume("in-c", inTenant("c"), message("go on"), LEASE);
      same([await make("g"), await kept()], [false, "cef"]);
      await end("e", "completed");
      await end("f", "completed");
      advance(101);
      same([await make("g"), await make("h"), await make("i"), await kept()], [true, true, false, "cgh"]);
    },
  },
  {
    name: "a finished task is gone keptTasksMs after its end",
    async check(makeStore) {
      const { store, advance } = await makeStore({ keptTasksMs: 100 });
      await store.create(start("t"));
      await store.append("t", batch(1, 1, [status("completed", undefined, 1_000)]));
      advance(99);
      same((await store.facts("t", OWNER))?.state, "completed");
      advance(1);
      same(await store.facts("t", OWNER), undefined);
    },
  },
  ...earlyContract,
  ...pushContract,
  ...recordsContract,
  ...recordRoomContract,
];
