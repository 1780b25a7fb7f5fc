import { describe, expect, it, vi } from "vitest";
import { route } from "../../src/router/index.js";
import { routeInProcess, THIRTY_MODULES as SCENARIO } from "./thirty-modules.js";

const TIMES = 1_000;

describe("identical input", () => {
  it("gives identical bytes a thousand times", { timeout: 60_000 }, async () => {
    const scenario = { ...SCENARIO, modules: SCENARIO.modules.slice(-6) };
    const first = JSON.stringify(await route(scenario));
    let same = 0;
    for (let time = 0; time < TIMES; time++) if (JSON.stringify(await route(scenario)) === first) same++;
    expect(same).toBe(TIMES);
  });

  it("is not modified", async () => {
    const frozen = structuredClone(SCENARIO);
    for (const module of frozen.modules) Object.freeze(module.passages);
    Object.freeze(frozen.modules);
    await route(Object.freeze(frozen));
    expect(frozen).toEqual(SCENARIO);
  });

  // Without the JIT compiler: `test/full/determinism.test.ts`.
  it("gives the same bytes in another process with another locale, time zone and heap", async () => {
    const environment = {
      TZ: "Pacific/Kiritimati",
      LANG: "tr_TR.UTF-8",
      LC_ALL: "tr_TR.UTF-8",
      NODE_OPTIONS: "--max-old-space-size=512",
    };
    expect(routeInProcess(SCENARIO, environment)).toBe(JSON.stringify(await route(SCENARIO)));
  }, 90_000);
});

/** Everything a decision could depend on besides its input: the clock, chance, the locale and inexact mathematics. */
const AMBIENT: readonly (readonly [object, readonly string[]])[] = [
  [globalThis, ["Date"]],
  [Date, ["now"]],
  [performance, ["now"]],
  [Math, ["random", "exp", "log", "log2", "log10", "pow", "sin", "cos", "tan", "cbrt", "hypot"]],
  [crypto, ["randomUUID", "getRandomValues"]],
  [process, ["hrtime", "cwd", "uptime", "memoryUsage"]],
  [Intl, ["Collator", "NumberFormat", "DateTimeFormat", "Segmenter", "PluralRules"]],
  [String.prototype, ["localeCompare", "toLocaleLowerCase", "toLocaleUpperCase"]],
  [Number.prototype, ["toLocaleString"]],
  [Array.prototype, ["toLocaleString"]],
];

/** Runs the work while recording what the router's code reads from its environment. */
async function recordingReads(work: () => Promise<unknown>): Promise<readonly string[]> {
  const reads = new Set<string>();
  const restore = AMBIENT.flatMap(([owner, names]) =>
    names.map((name) => {
      const before = Object.getOwnPropertyDescriptor(owner, name);
      const value: unknown = Reflect.get(owner, name);
      Object.defineProperty(owner, name, {
        configurable: true,
        get() {
          // The frame below this getter is the reader; vitest itself reads the clock too.
          const [reader = ""] = new Error().stack?.split("\n").slice(2) ?? [];
          if (reader.includes("/src/router/")) reads.add(name);
          return value;
        },
      });
      return () => (before === undefined ? Reflect.deleteProperty(owner, name) : Object.defineProperty(owner, name, before));
    }),
  );
  try {
    await work();
  } finally {
    for (const undo of restore) undo();
  }
  return [...reads];
}

describe("a decision", () => {
  it("reads neither the clock nor chance, the locale or inexact mathematics, from the first import on", async () => {
    let bytes = "";
    vi.resetModules();
    const reads = await recordingReads(async () => {
      const fresh = await import("../../src/router/index.js");
      bytes = JSON.stringify(await fresh.route(SCENARIO));
    });
    expect(reads).toEqual([]);
    expect(bytes).toBe(JSON.stringify(await route(SCENARIO)));
  });
});
