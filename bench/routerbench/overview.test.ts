import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readInputs } from "./inputs.js";
import { overviewOf } from "./overview.js";
import type { BenchSettings } from "./plan.js";

const SIX = fileURLToPath(new URL("./fixtures/six.jsonl", import.meta.url));
const SETTINGS: BenchSettings = {
  modes: ["spec", "model"],
  ablate: [],
  embeddings: false,
  ranking: [],
  model: "small",
  seed: 7,
  temperature: 0.5,
  split: null,
};

describe("overviewOf()", () => {
  it("has the layout of the paper: corpus with commit, prompts, runs", async () => {
    const scenarios = await readInputs([SIX]);
    const [input] = scenarios;
    const prompt = { name: "P.txt", bytes: 1, sha256: createHash("sha256").update("x").digest("hex"), text: "x", commit: null };
    expect(parse(overviewOf({ scenarios, prompt }, SETTINGS))).toEqual({
      corpus: { file: "six.jsonl", sha256: input?.sha256, commit: input?.commit },
      prompts: { router_prompt: "P.txt", sha256: prompt.sha256 },
      runs: [
        { id: "spec", seed: 7, temperature: 0.5 },
        { id: "model", seed: 7, temperature: 0.5 },
      ],
    });
  });

  it("lists several files, and quotes names that YAML would read as something else", async () => {
    const [input] = await readInputs([SIX]);
    if (input === undefined) throw new Error("one file was read");
    const scenarios = ["a: b.jsonl", "true"].map((name) => ({ ...input, name, commit: "0".repeat(40) }));
    const { corpus } = parse(overviewOf({ scenarios }, SETTINGS)) as { readonly corpus: readonly object[] };
    expect(corpus).toEqual(["a: b.jsonl", "true"].map((file) => ({ file, sha256: input.sha256, commit: "0".repeat(40) })));
  });
});

describe("readInputs()", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "koine-commit-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("names the commit of a file that Git has as it is, and none for others", async () => {
    const path = join(folder, "a.jsonl");
    const commitOf = async (): Promise<string | null | undefined> => (await readInputs([path]))[0]?.commit;
    const git = (...args: readonly string[]): string =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "-C", folder, ...args], { encoding: "utf8" }).trim();
    await writeFile(path, "{}");
    expect(await commitOf()).toBeNull();
    git("init", "--quiet");
    expect(await commitOf()).toBeNull();
    git("add", ".");
    git("commit", "--quiet", "-m", "a");
    expect(await commitOf()).toBe(git("rev-parse", "HEAD"));
    await writeFile(path, "{ }");
    expect(await commitOf()).toBeNull();
  });
});
