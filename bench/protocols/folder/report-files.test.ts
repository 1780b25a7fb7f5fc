import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inventedManifest, inventedResult } from "../../../test/helpers/bench-result.js";
import { FILES, writeJson, writeResult } from "./folder.js";
import { writeReport } from "./report-files.js";

describe("writeReport()", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "koine-bench-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("leaves the page and its tables beside the result, and nothing else", async () => {
    const result = inventedResult({ runs: 2, requests: 12 });
    writeResult(folder, result);
    writeJson(folder, FILES.manifest, inventedManifest(result));
    await writeReport(folder);
    expect(readdirSync(folder).sort()).toEqual(["manifest.json", "report.html", "report.md", "result.json"]);
    expect(readFileSync(join(folder, FILES.report), "utf8")).toContain("<h1>echo: 4 protocols side by side</h1>");
    expect(readFileSync(join(folder, FILES.tables), "utf8")).toContain("# echo: 4 protocols side by side");
  });
  it("refuses a folder without a result", async () => {
    await expect(writeReport(folder)).rejects.toThrow("is no result of a benchmark");
  });
});
