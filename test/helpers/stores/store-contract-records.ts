import { type JsonObject, recordsBelow } from "../../../src/envelope/index.js";
import type { Store } from "../../../src/tasks/store.js";
import { RECORD_KEY_BYTES } from "../../../src/tasks/stores/record-limits.js";
import { rejects, same } from "./contract-samples.js";
import type { StoreRequirement } from "./store-requirement.js";

/** Boundary characters, unpaired surrogates, and text that is special to a database, its patterns or JavaScript. */
const ODD_NAMES: readonly string[] = [
  ...["", "\0", "\u0001", "\u0001\u0001", "\u0002", " ", "%", "%0;", "*", "_", "'", '"', "[", "(", "+", "-", ":", "{x}", "?"],
  ...["a", "A", "a\0", "a\0b", "a\u0001", "a/", "a/b", "a/b/c", "ab", "á", "a\u0301"],
  ...["__proto__", "constructor", "toString", "hasOwnProperty"],
  ...["\ud7ff", "\ud83d", "\ud83d\ude00", "\ud83da", "\ude00", "\ude00\ud83d", "\ue000", "\ue000\u0100", "\uffff", "\u{10ffff}"],
];

/** Requirements of a store for records other than tasks. */
export const recordsContract: readonly StoreRequirement[] = [
  {
    name: "a record exists until it is deleted, and the last value of a name wins",
    async check(makeStore) {
      const { store, advance } = await makeStore({});
      same(await store.records.get("k"), undefined);
      same(await store.records.delete("k"), false);
      await store.records.put("k", { n: 1 });
      await store.records.put("k", { n: 2 });
      advance(1_000_000_000);
      same(await store.records.get("k"), { n: 2 });
      same([await store.records.delete("k"), await store.records.delete("k")], [true, false]);
      same(await store.records.get("k"), undefined);
      same(await store.records.list("", 10), []);
    },
  },
  {
    name: "of many concurrent adds one wins, and the others get its value",
    async check(makeStore) {
      const { store } = await makeStore({});
      const numbers = Array.from({ length: 50 }, (_, n) => n);
      const answers = await Promise.all(numbers.map((n) => store.records.add("k", { n })));
      const winners = numbers.filter((n) => answers[n] === undefined);
      same(winners.length, 1);
      const winner = { n: winners[0] };
      same(await store.records.get("k"), winner);
      same(
        answers.filter((answer) => answer !== undefined),
        numbers.slice(1).map(() => winner),
      );
    },
  },
  {
    name: "of many concurrent counts each gets its own number, without a gap",
    async check(makeStore) {
      const { store } = await makeStore({});
      const counts = await Promise.all(Array.from({ length: 50 }, () => store.records.count("k")));
      const expected = Array.from({ length: 50 }, (_, n) => n + 1);
      same(
        [...counts].sort((a, b) => a - b),
        expected,
      );
      same(await store.records.get("k"), { count: 50 });
    },
  },
  {
    name: "a counter is a record: it can be put and deleted; any other record counts as zero",
    async check(makeStore) {
      const { store } = await makeStore({});
      await store.records.put("k", { count: 9_000_000_000 });
      same(await store.records.count("k"), 9_000_000_001);
      await store.records.put("k", { count: -2 });
      same(await store.records.count("k"), -1);
      await store.records.delete("k");
      same(await store.records.count("k"), 1);
      for (const other of [{ count: "7" }, { count: 1.5 }, { count: 7, more: 1 }, {}, { nested: { count: 7 } }]) {
        await store.records.put("k", other);
        same([await store.records.count("k"), await store.records.get("k")], [1, { count: 1 }]);
      }
    },
  },
  {
    name: "a record with a lifetime expires for every method, and can be added again",
    async check(makeStore) {
      const { store, advance } = await makeStore({});
      const shown = async () => (await store.records.list("", 10)).map(({ key }) => key);
      await store.records.put("put", { n: 1 }, 100);
      same(await store.records.add("add", { n: 1 }, 100), undefined);
      same(await store.records.count("count", 100), 1);
      await store.records.put("stays", { n: 1 });
      advance(99);
      same(await shown(), ["add", "count", "put", "stays"]);
      same(await store.records.add("add", { n: 2 }, 100), { n: 1 });
      advance(1);
      same(await shown(), ["stays"]);
      same([await store.records.get("put"), await store.records.delete("put")], [undefined, false]);
      same(await store.records.add("add", { n: 2 }), undefined);
      same(await store.records.count("count"), 1);
      same(await shown(), ["add", "count", "stays"]);
    },
  },
  {
    name: "every write sets the lifetime again: longer, or unlimited",
    async check(makeStore) {
      const { store, advance } = await makeStore({});
      for (const key of ["longer", "ever"]) await store.records.put(key, { n: 1 }, 100);
      await store.records.count("counted", 100);
      advance(60);
      await store.records.put("longer", { n: 2 }, 100);
      await store.records.put("ever", { n: 2 });
      same(await store.records.count("counted", 100), 2);
      advance(60);
      same(await store.records.get("longer"), { n: 2 });
      same(await store.records.count("counted"), 3);
      advance(1_000_000);
      same(
        (await store.records.list("", 10)).map(({ key }) => key),
        ["counted", "ever"],
      );
      await store.records.put("ever", { n: 3 }, 1);
      advance(1);
      same(await store.records.get("ever"), undefined);
    },
  },
  {
    name: "every text is a distinct name; names are listed by code unit, by any prefix, after any other",
    async check(makeStore) {
      const { store } = await makeStore({});
      // JavaScript's default sort order is the order of code units.
      const sorted = [...ODD_NAMES].sort();
      await Promise.all(ODD_NAMES.map((name) => store.records.put(name, { name: JSON.stringify(name) })));
      for (const name of ODD_NAMES) same(await store.records.get(name), { name: JSON.stringify(name) });
      same(await names(store, ""), sorted);
      for (const prefix of ODD_NAMES) {
        const below = sorted.filter((name) => name.startsWith(prefix));
        same(await names(store, prefix), below);
        for (const after of ["", "a", "\ud83d", "\uffff\uffff"]) {
          same(
            await names(store, prefix, after),
            below.filter((name) => name > after),
          );
        }
      }
    },
  },
  {
    name: "pages have no gaps or repeats, whatever happens to the record between them",
    async check(makeStore) {
      const { store } = await makeStore({});
      for (const key of ["a/1", "a/2", "a/3", "a/4", "b/1"]) await store.records.put(key, { key });
      same(await store.records.list("a/", 0), []);
      same(await store.records.list("a/", 2), [
        { key: "a/1", value: { key: "a/1" } },
        { key: "a/2", value: { key: "a/2" } },
      ]);
      await store.records.delete("a/2");
      same(
        (await store.records.list("a/", 2, "a/2")).map(({ key }) => key),
        ["a/3", "a/4"],
      );
      same(await store.records.list("a/", 2, "a/4"), []);
      same(
        (await store.records.list("a/", 1, "a")).map(({ key }) => key),
        ["a/1"],
      );
      same(await store.records.list("a/", 9, "b"), []);
    },
  },
  {
    name: "a page is full although many records before it have expired",
    async check(makeStore) {
      const { store, advance } = await makeStore({});
      const name = (n: number) => String(n).padStart(4, "0");
      const all = Array.from({ length: 700 }, (_, n) => n);
      await Promise.all(all.map((n) => store.records.put(name(n), { n }, n % 100 === 99 ? undefined : 100)));
      advance(100);
      const kept = all.filter((n) => n % 100 === 99).map(name);
      same(
        (await store.records.list("", 5)).map(({ key }) => key),
        kept.slice(0, 5),
      );
      same(
        (await store.records.list("", 1_000, kept[2])).map(({ key }) => key),
        kept.slice(3),
      );
    },
  },
  {
    name: "a value is returned as the same JSON, as a copy, with members of any name",
    async check(makeStore) {
      const { store } = await makeStore({});
      const texts = [
        '{"__proto__":{"x":1},"constructor":{"prototype":null}}',
        '{"":"","a\\u0000b":"\\u0000\\ud800","2":[1,[],{},null,true,1e+300,-0.5],"1":"ü😀\\n"}',
        "{}",
      ];
      for (const text of texts) {
        await store.records.put("v", JSON.parse(text));
        same(JSON.stringify(await store.records.get("v")), JSON.stringify(JSON.parse(text)));
        same(JSON.stringify((await store.records.list("v", 1))[0]?.value), JSON.stringify(JSON.parse(text)));
      }
      const given = { list: ["a"], none: undefined };
      const putting = store.records.put("mine", given);
      given.list.push("b");
      await putting;
      same(JSON.stringify(await store.records.get("mine")), '{"list":["a"]}');
      Reflect.set((await store.records.get("mine")) ?? {}, "list", "changed");
      same(JSON.stringify(await store.records.get("mine")), '{"list":["a"]}');
      same(Reflect.get({}, "x"), undefined);
    },
  },
  {
    name: "the limit of a value is in bytes, not characters, and a name has a limit too",
    async check(makeStore) {
      const { store } = await makeStore({ recordBytes: 20 });
      const fits: JsonObject = { v: "éééééé" };
      const long: JsonObject = { v: "ééééééa" };
      await store.records.put("k", fits);
      await rejects(store.records.put("k", long), "too_large");
      await rejects(store.records.add("k", long), "too_large");
      await rejects(store.records.add("new", long), "too_large");
      same(await store.records.list("", 10), [{ key: "k", value: fits }]);
      const longest = "é".repeat(RECORD_KEY_BYTES / 2);
      await store.records.put(longest, { n: 1 });
      same(await store.records.get(longest), { n: 1 });
      for (const name of [`${longest}a`, "a".repeat(RECORD_KEY_BYTES + 1)]) {
        await rejects(store.records.put(name, {}), "too_large");
        await rejects(store.records.add(name, {}), "too_large");
        await rejects(store.records.count(name), "too_large");
        same([await store.records.get(name), await store.records.delete(name)], [undefined, false]);
      }
    },
  },
  {
    name: "records below one name are not visible below another",
    async check(makeStore) {
      const { store } = await makeStore({});
      const [a, b] = [recordsBelow(store.records, "a"), recordsBelow(store.records, "a2")];
      await a.put("k", { of: "a" });
      same(await b.add("k", { of: "b" }), undefined);
      same(
        [await a.list("", 10), await b.list("k", 10)],
        [[{ key: "k", value: { of: "a" } }], [{ key: "k", value: { of: "b" } }]],
      );
      same([await b.delete("k"), await a.get("k"), await a.list("", 10, "k")], [true, { of: "a" }, []]);
    },
  },
];

async function names(store: Store, prefix: string, after?: string): Promise<readonly string[]> {
  return (await store.records.list(prefix, ODD_NAMES.length, after)).map(({ key }) => key);
}
