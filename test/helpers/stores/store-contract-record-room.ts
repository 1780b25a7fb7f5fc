import type { JsonObject } from "../../../src/envelope/index.js";
import type { Store } from "../../../src/tasks/store.js";
import { rejects, same } from "./contract-samples.js";
import type { StoreRequirement } from "./store-requirement.js";

/** Limits of stored records, and what is evicted. */
export const recordRoomContract: readonly StoreRequirement[] = [
  {
    name: "at most keptRecords are kept: the next is refused, and no existing record is evicted",
    async check(makeStore) {
      const { store, advance } = await makeStore({ keptRecords: 2 });
      await store.records.put("a", { n: 1 });
      await store.records.count("b", 100);
      await rejects(store.records.put("c", {}), "overloaded");
      await rejects(store.records.add("c", {}), "overloaded");
      await rejects(store.records.count("c"), "overloaded");
      await store.records.put("a", { n: 2 });
      same([await store.records.add("a", {}), await store.records.count("b", 100)], [{ n: 2 }, 2]);
      same(await names(store), ["a", "b"]);
      advance(100);
      same(await store.records.add("c", { n: 3 }), undefined);
      await rejects(store.records.put("d", {}), "overloaded");
      await store.records.delete("a");
      await store.records.put("d", {});
      same(await names(store), ["c", "d"]);
    },
  },
  {
    name: "expired records make room, however many, and are not counted twice",
    async check(makeStore) {
      const { store, advance } = await makeStore({ keptRecords: 300 });
      const numbers = Array.from({ length: 300 }, (_, n) => n);
      const fill = (prefix: string, order: readonly number[]) =>
        Promise.all(order.map((n) => store.records.put(prefix + n, { n }, 100)));
      for (const round of [() => fill("a", numbers), () => fill("b", numbers), () => fill("b", numbers.toReversed())]) {
        await round();
        await rejects(store.records.put("one more", {}), "overloaded");
        advance(100);
      }
      same(await store.records.list("", 10), []);
      // Records with an extended lifetime are not expired, and do not hide expired ones.
      for (const keepMs of [50, 10_000_000]) {
        await Promise.all(Array.from({ length: 298 }, (_, n) => store.records.put(`stays/${n}`, {}, keepMs)));
      }
      await store.records.put("ends first", {}, 100);
      await store.records.put("ends second", {}, 200);
      for (const key of ["third", "fourth"]) {
        await rejects(store.records.put(key, {}), "overloaded");
        advance(100);
        await store.records.put(key, {});
      }
    },
  },
  {
    name: "all records together have at most keptRecordBytes with their names: more is refused, new or not",
    async check(makeStore) {
      const { store, advance } = await makeStore({ keptRecordBytes: 300 });
      const { records } = store;
      await records.put("a", ofBytes(100));
      await records.put("b", ofBytes(100), 100);
      await records.put("c", ofBytes(99), 200);
      await rejects(records.put("d", {}), "overloaded");
      await rejects(records.add("d", {}), "overloaded");
      await rejects(records.count("d"), "overloaded");
      await rejects(records.put("a", ofBytes(102)), "overloaded");
      same([await records.get("a"), await records.add("a", {})], [ofBytes(100), ofBytes(100)]);
      await records.put("a", ofBytes(101));
      await records.put("a", ofBytes(50));
      same(await records.count("d"), 1);
      await records.put("a", ofBytes(89));
      await rejects(records.put("e", {}), "overloaded");
      advance(100);
      await records.put("e", ofBytes(100));
      await rejects(records.put("f", {}), "overloaded");
      advance(100);
      await records.delete("a");
      await rejects(records.put("f", ofBytes(189)), "overloaded");
      await records.put("f", ofBytes(188));
      same(await names(store), ["d", "e", "f"]);
    },
  },
  {
    name: "one large record uses the room of many small expired ones",
    async check(makeStore) {
      const { store, advance } = await makeStore({ keptRecordBytes: 300 });
      for (let n = 10; n < 40; n++) await store.records.put(`${n}`, { n: 0 }, 100);
      await rejects(store.records.put("x", ofBytes(300)), "overloaded");
      advance(100);
      await store.records.put("x", ofBytes(300));
      same(await names(store), ["x"]);
    },
  },
];

async function names(store: Store): Promise<readonly string[]> {
  return (await store.records.list("", 1_000)).map(({ key }) => key);
}

/** A value of this many bytes together with a name of one byte: `{"t":""}` is eight, and some letters are two. */
function ofBytes(bytes: number): JsonObject {
  const left = bytes - 9;
  return { t: "ü".repeat(Math.floor(left / 2)) + "x".repeat(left % 2) };
}
