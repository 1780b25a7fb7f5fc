import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { bytes, clock, duration, quantile, rate } from "../../apps/dashboard/page/format.js";
import { fromBase64, hexDump } from "../../apps/dashboard/page/hex-dump.js";
import { jsonTokens } from "../../apps/dashboard/page/json-tokens.js";
import { layoutOf, pointOn, routeOf } from "../../apps/dashboard/page/map-layout.js";
import { MessageStore } from "../../apps/dashboard/page/message-store.js";
import { RateMeter } from "../../apps/dashboard/page/rate-meter.js";
import { traceExchangeOf, traceRows } from "../../apps/dashboard/page/trace-tree.js";
import { firstState, NODES } from "./fake-console.js";
import { capturedMessage, storyOf, summary } from "./fake-messages.js";

describe("MessageStore", () => {
  it("orders messages by start, applies newer states, and ignores older ones", () => {
    const store = new MessageStore();
    const [late, early] = [capturedMessage({ id: "b", seq: 2, at: 20 }), capturedMessage({ id: "a", seq: 1, at: 10 })].map(
      summary,
    );
    if (late === undefined || early === undefined) throw new Error("two were made");
    store.put(late);
    store.put(early);
    store.put({ ...early, seq: 3, status: "failed" });
    store.put(early);
    expect(store.all().map(({ id, status }) => [id, status])).toEqual([
      ["a", "failed"],
      ["b", "ok"],
    ]);
  });

  it("evicts the oldest beyond its limit", () => {
    const store = new MessageStore(100);
    for (let seq = 1; seq <= 1_000; seq++) {
      store.put(summary(capturedMessage({ id: `m${seq}`, seq })));
      expect(store.size).toBeLessThanOrEqual(100);
    }
    expect(store.all().at(-1)?.id).toBe("m1000");
    expect(store.get("m1")).toBeUndefined();
  });
});

describe("traceRows()", () => {
  it("places each call below its cause, with its share of the time", () => {
    const rows = traceRows(storyOf(), 0);
    expect(rows.map(({ message, depth }) => [message.id, depth])).toEqual([
      ["one", 0],
      ["two", 1],
      ["three", 2],
    ]);
    expect(rows[0]).toMatchObject({ start: 0, width: 1 });
    expect(rows[1]?.start).toBeCloseTo(30 / 480);
    expect(rows[1]?.width).toBeCloseTo(270 / 480);
  });

  it("shows every call once, also with cyclic or unknown parents", () => {
    const circle = [
      capturedMessage({ id: "a", seq: 1, span: "x", parentSpan: "y" }),
      capturedMessage({ id: "b", seq: 2, span: "y", parentSpan: "x" }),
      capturedMessage({ id: "c", seq: 3, span: "z", parentSpan: "never seen" }),
      capturedMessage({ id: "d", seq: 4, span: "w", parentSpan: "w" }),
    ];
    expect(
      traceRows(circle, 0)
        .map(({ message }) => message.id)
        .sort(),
    ).toEqual(["a", "b", "c", "d"]);
  });
});

describe("traceExchangeOf()", () => {
  it("finds the other side from either side, and the successful attempt among several", () => {
    const [incoming, good] = storyOf();
    if (incoming === undefined || good === undefined) throw new Error("the story has them");
    const failed = { ...good, id: "first try", status: "failed" as const };
    const trace = [incoming, failed, good];
    expect(traceExchangeOf(incoming, trace)).toEqual({ incoming, outgoing: good });
    expect(traceExchangeOf(failed, trace)).toEqual({ incoming, outgoing: failed });
  });
});

describe("the map's layout", () => {
  const layout = layoutOf(NODES, 1.5);

  it("places the gateway in the middle, callers on the left, and overlaps no cards", () => {
    const { width, height, positions } = layout;
    expect(positions.get("gateway")).toEqual({ x: width / 2, y: height / 2 });
    const xs = [...positions.values()].map(({ x }) => x);
    expect(positions.get("traveller")?.x).toBe(Math.min(...xs));
    const cards = [...positions.entries()].filter(([id]) => id !== "gateway").map(([, position]) => position);
    const pairs = cards.flatMap((a, index) => cards.slice(index + 1).map((b) => [a, b] as const));
    expect(pairs.length).toBeGreaterThan(0);
    expect(pairs.filter(([a, b]) => Math.abs(a.x - b.x) < 196 && Math.abs(a.y - b.y) < 86)).toEqual([]);
  });

  it.each([1, 2, 5, 12, 24])("keeps %i cards inside the drawing", (count) => {
    const many = Array.from(
      { length: count },
      (_, index) => ({ ...(NODES[2] ?? NODES[0]), id: `n${index}` }) as (typeof NODES)[number],
    );
    const { width, height, positions } = layoutOf(many, 3);
    for (const { x, y } of positions.values()) {
      expect(x - 98 >= 0 && x + 98 <= width).toBe(true);
      expect(y - 43 >= 0 && y + 43 <= height).toBe(true);
    }
  });

  it("routes a translated link through the gateway, and any other directly", () => {
    const [bridged] = firstState().links;
    const plain = firstState().links.at(-1);
    if (bridged === undefined || plain === undefined) throw new Error("the state has links");
    const [first, second] = routeOf(bridged, layout, "gateway");
    if (first === undefined || second === undefined) throw new Error("two pieces are wanted");
    expect(pointOn(first, 0)).toEqual(layout.positions.get("traveller"));
    expect(pointOn(first, 1)).toEqual(pointOn(second, 0));
    expect(pointOn(second, 1)).toEqual(layout.positions.get("planner"));
    expect(routeOf(plain, layout, "gateway")).toHaveLength(1);
    expect(routeOf({ ...plain, to: "nobody" }, layout, "gateway")).toEqual([]);
  });
});

describe("RateMeter", () => {
  it("measures a steady rate, decays when idle, and treats a smaller counter as a reset", () => {
    const meter = new RateMeter();
    for (let second = 0; second <= 20; second++) meter.take("a", second * 10, 0, second * 1_000);
    expect(meter.take("a", 210, 1, 21_000)).toMatchObject({ messages: 10, failures: 1, perSecond: expect.closeTo(10, 1) });
    expect(meter.take("a", 210, 1, 60_000).perSecond).toBeLessThan(0.05);
    expect(meter.take("a", 3, 0, 61_000)).toMatchObject({ messages: 0, failures: 0 });
  });
});

describe("hexDump()", () => {
  it("matches the output of `hexdump -C`", () => {
    const text = "hello, wire bytes!\n";
    // Written by `printf 'hello, wire bytes!\n' | hexdump -C`, with two digits less of the offset and without the bars.
    expect(hexDump(new TextEncoder().encode(text)).split("\n")).toEqual([
      "000000  68 65 6c 6c 6f 2c 20 77  69 72 65 20 62 79 74 65  hello, wire byte",
      `000010  73 21 0a${" ".repeat(40)}  s!.`,
    ]);
    expect(fromBase64("AP8=")).toEqual(Uint8Array.of(0, 255));
    expect(fromBase64("%%%")).toBeUndefined();
  });
});

describe("jsonTokens()", () => {
  it("loses no character of the document, and distinguishes keys from values", () => {
    const document = { 'a "key"': ['text: \\ "x"', -1.5e-7, true, null, { true: "false" }], tail: "n-1" };
    const tokens = jsonTokens(JSON.stringify(document)) ?? [];
    expect(tokens.map(({ text }) => text).join("")).toBe(JSON.stringify(document, null, 2));
    const of = (kind: string): readonly string[] => tokens.filter((token) => token.kind === kind).map(({ text }) => text);
    expect(of("key").map((key) => JSON.parse(key))).toEqual(['a "key"', "true", "tail"]);
    expect(of("number")).toEqual(["-1.5e-7"]);
    expect(of("word")).toEqual(["true", "null"]);
    expect(jsonTokens("data: {}")).toBeUndefined();
  });
});

describe("numbers and times", () => {
  it("are formatted for people", () => {
    expect([bytes(0), bytes(2_048), bytes(3 * 1024 * 1024)]).toEqual(["0 B", "2.0 KB", "3.0 MB"]);
    expect([duration(0.2), duration(42), duration(1_500), duration(61_000), duration(7_320_000)]).toEqual([
      "<1 ms",
      "42 ms",
      "1.50 s",
      "1 min 1 s",
      "2 h 2 min",
    ]);
    expect([rate(0), rate(2.34), rate(41.6)]).toEqual(["", "2.3/s", "42/s"]);
    expect([quantile([5, 1, 9, 3], 0.5), quantile([], 0.5)]).toEqual([5, undefined]);
    expect(clock(new Date(2026, 0, 5, 7, 8, 9, 4).getTime())).toBe("07:08:09.004");
  });
});

describe("the colours", () => {
  const tokens = readFileSync(new URL("../../apps/dashboard/page/tokens.css", import.meta.url), "utf8");
  const colours = new Map(
    [...tokens.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name = "", ...pair]) => [name, pair]),
  );
  const luminance = (colour: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5]
      .map((offset) => Number.parseInt(colour.slice(offset, offset + 2), 16) / 255)
      .map((share) => (share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const hues = Array.from({ length: 7 }, (_, index) => `hue-${index}`);

  // WCAG 2.2 §1.4.3: text of ordinary size needs 4.5 to 1.
  it.each([0, 1])("have sufficient contrast in both themes (%i)", (theme) => {
    for (const text of ["ink", "ink-soft", "ink-quiet", "accent", "good", "warn", "bad", ...hues]) {
      for (const ground of ["ground", "panel", "raised", "sunken", "accent-soft"]) {
        const [dark = 0, light = 0] = [text, ground]
          .map((name) => luminance(colours.get(name)?.[theme] ?? ""))
          .sort((a, b) => a - b);
        expect((light + 0.05) / (dark + 0.05), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
      }
    }
  });
});
