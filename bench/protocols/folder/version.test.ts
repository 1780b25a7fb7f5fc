import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { inventedManifest, inventedResult } from "../../../test/helpers/bench-result.js";
import { SCHEMA_VERSION } from "../result/index.js";
import { readEvents } from "./events-file.js";
import { readManifest, readResult } from "./folder.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function folderWith(schema: number): string {
  const folder = mkdtempSync(join(tmpdir(), "koine-version-"));
  folders.push(folder);
  const result = inventedResult({ runs: 2, requests: 12 });
  const plan = { ...result.plan, schema };
  writeFileSync(join(folder, "result.json"), JSON.stringify({ ...result, plan, schema }));
  writeFileSync(join(folder, "manifest.json"), JSON.stringify({ ...inventedManifest(result), koine: "0.0.9", schema }));
  writeFileSync(join(folder, "events.ndjson"), `${JSON.stringify({ type: "plan", plan })}\n`);
  return folder;
}

it("refuses results, manifests and events of an older version, naming both versions", async () => {
  const folder = folderWith(1);
  const words = `has schema version 1, and this koine reads version ${SCHEMA_VERSION}: measure again, or read it with the version that wrote it`;
  expect(() => readResult(folder)).toThrow(`result.json ${words}`);
  expect(() => readManifest(folder)).toThrow(`manifest.json ${words} (koine 0.0.9)`);
  await expect(readEvents(join(folder, "events.ndjson"))).rejects.toThrow(`events.ndjson:1: the plan ${words}`);
});

it("refuses those of a newer one, and reads its own", () => {
  const newer = SCHEMA_VERSION + 1;
  expect(() => readResult(folderWith(newer))).toThrow(
    `has schema version ${newer}, and this koine reads version ${SCHEMA_VERSION}: update koine`,
  );
  expect(readResult(folderWith(SCHEMA_VERSION)).schema).toBe(SCHEMA_VERSION);
});
