import { batch, chunk, message, OWNER, same, start, status } from "./contract-samples.js";
import type { StoreRequirement } from "./store-requirement.js";

const SENDER = { holder: "sender", leaseMs: 1_000 };
const CONFIG = { taskId: "t", id: "p", url: "https://x.example" };

/** Requirements of a store for webhooks: the journal is the queue, and each webhook is a cursor in it. */
export const pushContract: readonly StoreRequirement[] = [
  {
    name: "a webhook set with the task is notified from the first entry, a later one from then on",
    async check(makeStore) {
      const { store } = await makeStore({});
      await store.create({ ...start("t"), push: CONFIG });
      await store.setPush(OWNER, { ...CONFIG, id: "late" });
      const [due, ...none] = await store.duePushes(SENDER, 10);
      same(none, []);
      same([due?.owner, due?.agent, due?.config.id, due?.config.delivery?.seq], [OWNER, "a", "p", 0]);
      same(await store.append("t", batch(1, 1, [chunk("a")])), { ok: true, cancelRequested: false, pushDue: true });
      const [late] = await store.duePushes(SENDER, 10);
      same([late?.config.id, late?.config.delivery?.seq], ["late", 1]);
    },
  },
  {
    name: "a webhook has one holder at a time; an expired holder is replaced, and refused afterwards",
    async check(makeStore) {
      const { store, advance } = await makeStore({});
      await store.create({ ...start("t"), push: CONFIG });
      const [first] = await store.duePushes(SENDER, 10);
      same(await store.duePushes(SENDER, 10), []);
      advance(1_000);
      const [second] = await store.duePushes(SENDER, 10);
      if (first === undefined || second === undefined) throw new Error("the webhook was not due");
      same(await store.recordPush(first, { outcome: "accepted", seq: 1, leaseMs: 1_000 }), false);
      same(await store.recordPush(second, { outcome: "accepted", seq: 1, leaseMs: 1_000 }), true);
      same(await store.duePushes(SENDER, 10), []);
      same(await store.recordPush(second, { outcome: "idle" }), true);
      same((await store.pushes("t", OWNER))?.[0]?.delivery, { state: "waiting", seq: 1, failures: 0 });
    },
  },
  {
    name: "an entry appended while a webhook is released is not lost",
    async check(makeStore) {
      const { store } = await makeStore({});
      await store.create({ ...start("t"), push: CONFIG });
      const [due] = await store.duePushes(SENDER, 10);
      if (due === undefined) throw new Error("the webhook was not due");
      await store.recordPush(due, { outcome: "accepted", seq: 1, leaseMs: 1_000 });
      await store.append("t", batch(1, 1, [status("completed")]));
      await store.recordPush(due, { outcome: "idle" });
      same((await store.duePushes(SENDER, 10)).length, 1);
    },
  },
  {
    name: "a failed attempt is due again after its delay; one given up is not, until the webhook is set again",
    async check(makeStore) {
      const { store, advance } = await makeStore({});
      await store.create({ ...start("t"), push: CONFIG });
      const [due] = await store.duePushes(SENDER, 10);
      if (due === undefined) throw new Error("the webhook was not due");
      same(await store.recordPush(due, { outcome: "failed", retryInMs: 500, problem: "HTTP 503" }), true);
      same((await store.pushes("t", OWNER))?.[0]?.delivery, {
        state: "retrying",
        seq: 0,
        failures: 1,
        nextAt: 1_500,
        problem: "HTTP 503",
      });
      advance(499);
      same(await store.duePushes(SENDER, 10), []);
      advance(1);
      const [again] = await store.duePushes(SENDER, 10);
      if (again === undefined) throw new Error("the webhook was not due again");
      same(again.config.delivery?.failures, 1);
      await store.recordPush(again, { outcome: "gave_up", problem: "HTTP 410" });
      advance(100_000);
      same(await store.duePushes(SENDER, 10), []);
      same((await store.pushes("t", OWNER))?.[0]?.delivery?.state, "gave_up");
      await store.setPush(OWNER, CONFIG);
      same((await store.duePushes(SENDER, 10)).length, 1);
    },
  },
  {
    name: "entries written by the store itself are notified too",
    async check(makeStore) {
      const { store } = await makeStore({});
      await store.create(start("t"));
      await store.append("t", batch(1, 1, [status("input-required")]));
      await store.setPush(OWNER, CONFIG);
      same(await store.duePushes(SENDER, 10), []);
      await store.resume("t", OWNER, message("go"), SENDER);
      const [due] = await store.duePushes(SENDER, 10);
      if (due === undefined) throw new Error("the new turn is to be told");
      await store.recordPush(due, { outcome: "accepted", seq: 3, leaseMs: 1_000 });
      await store.recordPush(due, { outcome: "idle" });
      await store.append("t", batch(2, 3, [status("auth-required")]));
      await store.requestCancel("t", OWNER);
      const [rest] = await store.duePushes(SENDER, 10);
      same(rest?.config.delivery?.seq, 3);
      same((await store.read("t", OWNER, 3, 10))?.entries.length, 2);
    },
  },
  {
    name: "setting a webhook again revokes it from its holder",
    async check(makeStore) {
      const { store } = await makeStore({});
      await store.create({ ...start("t"), push: CONFIG });
      const [old] = await store.duePushes(SENDER, 10);
      if (old === undefined) throw new Error("the webhook was not due");
      await store.setPush(OWNER, { ...CONFIG, url: "https://y.example" });
      same(await store.recordPush(old, { outcome: "accepted", seq: 1, leaseMs: 1_000 }), false);
      const [anew] = await store.duePushes(SENDER, 10);
      if (anew === undefined) throw new Error("the webhook was not due at its new address");
      same([anew.config.url, anew.config.delivery?.seq], ["https://y.example", 0]);
      await store.recordPush(anew, { outcome: "accepted", seq: 1, leaseMs: 1_000 });
      await store.recordPush(anew, { outcome: "idle" });
      same(await store.duePushes(SENDER, 10), []);
    },
  },
  {
    name: "a deleted webhook is not notified, and its holder is refused",
    async check(makeStore) {
      const { store } = await makeStore({});
      await store.create({ ...start("t"), push: CONFIG });
      const [due] = await store.duePushes(SENDER, 10);
      if (due === undefined) throw new Error("the webhook was not due");
      same(await store.deletePush("t", OWNER, "p"), true);
      same(await store.recordPush(due, { outcome: "accepted", seq: 1, leaseMs: 1_000 }), false);
      same(await store.duePushes(SENDER, 10), []);
      await store.setPush(OWNER, CONFIG);
      await store.append("t", batch(1, 1, [chunk("a")]));
      same((await store.duePushes(SENDER, 10)).length, 1);
      same(await store.recordPush(due, { outcome: "accepted", seq: 2, leaseMs: 1_000 }), false);
    },
  },
];
