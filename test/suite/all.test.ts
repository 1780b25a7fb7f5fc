import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readSuite } from "../../bench/protocols/suite/suite.js";
import { withFolder } from "../bench/stage.js";
import { koine } from "../cli/koine.js";

const PARTS = ["echo", "streaming-queue", "queue-models", "docqa", "fail-storm", "safety", "routerbench"];
const TABLES = ["1", "2", "3a", "3b", "3c", "3d", "4", "5", "6", "7", "8", "9", "10", "11", "12"];

it("measures every scenario over every protocol, and writes every table of the paper from it", () =>
  withFolder(async (root) => {
    const folder = join(root, "all");
    const { code, stderr } = await koine(["bench", "all", "--smoke", "--out", folder]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("koine bench verify")]);
    const { parts } = readSuite(folder);
    expect(parts.map(({ name, status, problem }) => ({ name, status, problem }))).toEqual(
      PARTS.map((name) => ({ name, status: "complete", problem: null })),
    );
    const report = readFileSync(join(folder, "report.md"), "utf8");
    for (const table of TABLES) expect(report).toMatch(new RegExp(`^## Table ${table}: `, "m"));
    expect(report).not.toContain("Not measured");
    // Every scenario compares the router's plan with the best single protocol.
    const table7 = report.split(/^## Table /m).find((each) => each.startsWith("7: "));
    for (const scenario of ["docqa", "streaming-queue", "fail-storm", "safety"])
      expect(table7).toMatch(new RegExp(`^\\| ${scenario} \\| `, "m"));
    const page = readFileSync(join(folder, "report.html"), "utf8");
    for (const name of PARTS) expect(page).toContain(`href="${name}/report.html"`);

    expect(await koine(["bench", "verify", folder])).toMatchObject({ code: 0, stderr: "" });
    const result = join(folder, "docqa", "result.json");
    writeFileSync(result, readFileSync(result, "utf8").replace(/"hits": \d+/, '"hits": 99'));
    expect(await koine(["bench", "verify", folder])).toMatchObject({ code: 1, stdout: expect.stringContaining("docqa: docqa.") });
  }));
