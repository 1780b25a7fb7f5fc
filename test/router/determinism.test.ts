import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
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

  const PLACES = [
    { TZ: "Pacific/Kiritimati", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8", NODE_OPTIONS: "--max-old-space-size=512" },
    { TZ: "America/St_Johns", LANG: "C", LC_ALL: "C", NODE_OPTIONS: "--jitless" },
  ];
  const PROGRAM = `
    import { readFileSync } from "node:fs";
    const { route } = await import(${JSON.stringify(compiled("src/router/index.ts"))});
    process.stdout.write(JSON.stringify(await route(JSON.parse(readFileSync(0, "utf8")))));
  `;
  for (const place of PLACES)
    it(`gives the same bytes in another process with ${JSON.stringify(place)}`, async () => {
      const child = spawnSync(process.execPath, ["--input-type=module", "--eval", PROGRAM], {
        cwd: ROOT,
        env: { ...process.env, ...place },
        input: JSON.stringify(SCENARIO),
        encoding: "utf8",
        timeout: 60_000,
      });
      expect(child.status, child.stderr).toBe(0);
      expect(child.stdout).toBe(JSON.stringify(await route(SCENARIO)));
    }, 90_000);
});

describe("the router's source", () => {
  /** What may differ from one run or one machine to the next. */
  const FICKLE =
    /\bDate\b|\bMath\.(?:random|exp|log|log2|log10|pow|sin|cos|tan|cbrt|hypot)\b|\*\*|\blocaleCompare\b|\btoLocale\w*|\bIntl\b|\bperformance\.now\b|\bprocess\.|\bcrypto\b|\.sort\(\(\) =>/;
  /** These are about what changes: measured outcomes, seeded chance, a model's answer, and a hash of its prompt. */
  const APART = ["bandit", "model", "models", "embeddings"];
  const folder = join(ROOT, "src", "router");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !APART.some((part) => file.startsWith(join(part, "/"))),
  );

  it("is where the test looks", () => {
    expect(files).toEqual(expect.arrayContaining(["judge.ts", join("evidence", "prototypes.ts"), join("text", "clauses.ts")]));
  });

  it("asks neither the clock nor chance, the locale or a maths library", () => {
    const found = files.flatMap((file) => {
      const code = readFileSync(join(folder, file), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
      const match = FICKLE.exec(code);
      return match === null ? [] : [`${file}: ${match[0]}`];
    });
    expect(found).toEqual([]);
  });
});
