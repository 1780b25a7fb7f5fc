import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { route, type Scenario } from "../../src/router/index.js";
import { compiled } from "../programs.js";
import { moduleSaying } from "./scenarios.js";
import { THIRTY } from "./thirty-texts.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SCENARIO: Scenario = {
  id: "s",
  description: "All messages are tiny.",
  modules: THIRTY.map((text, index) => moduleSaying(text, { id: `m${index}` })),
};
const TIMES = 1_000;

describe("identical input", () => {
  it("gives identical bytes a thousand times", async () => {
    const scenario = { ...SCENARIO, modules: SCENARIO.modules.slice(-6) };
    const first = JSON.stringify(await route(scenario));
    let same = 0;
    for (let time = 0; time < TIMES; time++) if (JSON.stringify(await route(scenario)) === first) same++;
    expect(same).toBe(TIMES);
  });

  it("is left as it was", async () => {
    const frozen = structuredClone(SCENARIO);
    for (const module of frozen.modules) Object.freeze(module.passages);
    Object.freeze(frozen.modules);
    await route(Object.freeze(frozen));
    expect(frozen).toEqual(SCENARIO);
  });

  const ENVIRONMENTS = [
    { TZ: "Pacific/Kiritimati", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8", NODE_OPTIONS: "--max-old-space-size=512" },
    { TZ: "America/St_Johns", LANG: "C", LC_ALL: "C", NODE_OPTIONS: "--jitless" },
  ];
  const PROGRAM = `
    import { readFileSync } from "node:fs";
    const { route } = await import(${JSON.stringify(compiled("src/router/index.ts"))});
    process.stdout.write(JSON.stringify(await route(JSON.parse(readFileSync(0, "utf8")))));
  `;
  for (const environment of ENVIRONMENTS)
    it(`gives the same bytes in another process with ${JSON.stringify(environment)}`, async () => {
      const child = spawnSync(process.execPath, ["--input-type=module", "--eval", PROGRAM], {
        cwd: ROOT,
        env: { ...process.env, ...environment },
        input: JSON.stringify(SCENARIO),
        encoding: "utf8",
        timeout: 60_000,
      });
      expect(child.status, child.stderr).toBe(0);
      expect(child.stdout).toBe(JSON.stringify(await route(SCENARIO)));
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

/** Runs this while recording what code of the router reads of its surroundings. */
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
