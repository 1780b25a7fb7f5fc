import { describe, expect, test } from "vitest";
import { BurstSource } from "../../test/helpers/burst-source.js";
import { mapEach } from "./map-each.js";
import { type ReadyIterator, TAKE_READY } from "./take-ready.js";

const mapped = (source: AsyncIterable<number>, map: (item: number) => number): ReadyIterator<number> => mapEach(source, map);

/** Throws at 2. */
function tenfoldBut2(item: number): number {
  if (item === 2) throw new Error("no 2");
  return item * 10;
}

describe("mapEach", () => {
  test("maps the items that are waited for and those that are ready", async () => {
    const items = mapped(new BurstSource(1, 3, 4), tenfoldBut2);
    expect(await items.next()).toEqual({ done: false, value: 10 });
    expect([items[TAKE_READY]?.(), items[TAKE_READY]?.(), items[TAKE_READY]?.()]).toEqual([30, 40, undefined]);
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  test("stops the source and ends if the function throws", async () => {
    const source = new BurstSource(2, 3);
    const items = mapped(source, tenfoldBut2);
    await expect(items.next()).rejects.toThrow("no 2");
    expect(source.stopped).toBe(true);
    expect(items[TAKE_READY]?.()).toBeUndefined();
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  test("does so for an item that is ready", async () => {
    const source = new BurstSource(1, 2, 3);
    const items = mapped(source, tenfoldBut2);
    await items.next();
    expect(() => items[TAKE_READY]?.()).toThrow("no 2");
    expect(source.stopped).toBe(true);
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  test("stops the source when its reader does", async () => {
    const source = new BurstSource(1);
    const items = mapped(source, tenfoldBut2);
    expect(await items.return?.()).toEqual({ done: true, value: undefined });
    expect(source.stopped).toBe(true);
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });
});
