import { describe, expect, test } from "vitest";
import { BurstSource } from "../../../test/helpers/burst-source.js";
import { type ReadyIterator, TAKE_READY, WHEN_READY } from "../../envelope/index.js";
import { watchIterable } from "./watch-iterable.js";

const watching = (source: BurstSource<number>, refuses?: number) => {
  const seen: unknown[] = [];
  const watched = watchIterable(source, {
    item(value) {
      seen.push(value);
      if (value === refuses) throw new Error(`refused ${value}`);
    },
    end: (how, thrown) => void seen.push(how, ...(thrown instanceof Error ? [thrown.message] : [])),
  }) as ReadyIterator<number>;
  return { seen, watched };
};

describe("items that are taken at once", () => {
  test("are watched as those of next", async () => {
    const { seen, watched } = watching(new BurstSource(1, 2, 3));
    expect(await watched.next()).toEqual({ done: false, value: 1 });
    expect([watched[TAKE_READY]?.(), watched[TAKE_READY]?.(), watched[TAKE_READY]?.()]).toEqual([2, 3, undefined]);
    expect(await watched.next()).toEqual({ done: true, value: undefined });
    expect(seen).toEqual([1, 2, 3, "ended"]);
  });

  test("fail the reader and stop the source if the watcher throws", async () => {
    const source = new BurstSource(1, 2, 3);
    const { seen, watched } = watching(source, 2);
    await watched.next();
    expect(() => watched[TAKE_READY]?.()).toThrow("refused 2");
    expect(source.stopped).toBe(true);
    expect(watched[TAKE_READY]?.()).toBeUndefined();
    expect(await watched.next()).toEqual({ done: true, value: undefined });
    expect(seen).toEqual([1, 2, "failed", "refused 2"]);
  });

  test("are none where the watcher surrounds each pull", async () => {
    let pulls = 0;
    const within = <R>(run: () => R): R => {
      pulls++;
      return run();
    };
    const watched = watchIterable(new BurstSource(1, 2), {
      within,
      item: () => undefined,
      end: () => undefined,
    }) as ReadyIterator<number>;
    await watched.next();
    expect(watched[TAKE_READY]?.()).toBeUndefined();
    expect(watched[WHEN_READY]?.({ ready: () => undefined })).toBe(false);
    expect(await watched.next()).toEqual({ done: false, value: 2 });
    expect(pulls).toBe(2);
  });
});
