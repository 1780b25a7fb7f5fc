import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { accuracyDifferences, measureAccuracy } from "./bench-router-accuracy.js";

const LONG = 120_000;

it("measures the router without priors where no run of the other part is complete", { timeout: LONG }, async () => {
  const root = mkdtempSync(join(tmpdir(), "koine-accuracy-"));
  try {
    writeFileSync(join(root, "priors.json"), '{"protocols":[]}');
    const folder = join(root, "routerbench");
    const { signal } = new AbortController();
    await measureAccuracy({ folder, priorsOf: root, koine: "test", signal, onProgress: () => undefined });
    expect(await accuracyDifferences(folder, "test")).toEqual([]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
