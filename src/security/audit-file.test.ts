import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { appendFile, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { compiled } from "../../test/programs.js";
import type { AuditEntry } from "./audit-entry.js";
import { type AuditFile, openAuditFile } from "./audit-file.js";
import { auditFiles, readAuditLines, verifyAudit } from "./audit-read.js";

let folder: string;
let path: string;
const open: AuditFile[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-audit-"));
  path = join(folder, "audit.log");
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((file) => file.close()));
  await rm(folder, { recursive: true, force: true });
});
function opened(...[at, options]: Parameters<typeof openAuditFile>): AuditFile {
  const file = openAuditFile(at, options);
  open.push(file);
  return file;
}
const entry = (event: AuditEntry["event"], what = "GET /"): AuditEntry => ({
  at: "2026-01-31T12:00:00.000Z",
  event,
  who: "ann",
  what,
});
const linesOf = async (file: string): Promise<readonly string[]> =>
  (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
const eventsOf = async (file: string): Promise<readonly string[]> =>
  (await linesOf(file)).map((line) => (JSON.parse(line) as AuditEntry).event);
const verdict = async () => verifyAudit(readAuditLines(await auditFiles(path)));

describe("openAuditFile()", () => {
  test("writes refusals and key events at once, successes with the next write, for its owner alone", async () => {
    const file = opened(path);
    file.record(entry("authenticated"));
    expect(await eventsOf(path)).toEqual(["log.opened"]);
    file.record(entry("refused"));
    expect(await eventsOf(path)).toEqual(["log.opened", "authenticated", "refused"]);
    file.record(entry("key.rotated"));
    expect(await eventsOf(path)).toHaveLength(4);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("writes successes by itself within the flush time, and the rest when it is closed", async () => {
    const file = opened(path, { limits: { flushMs: 20 } });
    file.record(entry("authenticated"));
    await expect.poll(() => eventsOf(path)).toEqual(["log.opened", "authenticated"]);
    file.record(entry("authenticated"));
    await file.close();
    expect(await eventsOf(path)).toHaveLength(3);
  });

  test("chains its lines, also over files put aside and over restarts", async () => {
    for (let run = 0; run < 3; run++) {
      const file = opened(path, { limits: { fileBytes: 1_000, keptFiles: 50 } });
      for (let index = 0; index < 10; index++) file.record(entry("refused", `GET /${run}/${index}`));
      await file.close();
    }
    const files = await auditFiles(path);
    expect(files.length).toBeGreaterThan(3);
    for (const each of files) expect((await stat(each)).size).toBeLessThanOrEqual(1_000);
    const all = (await Promise.all(files.map(linesOf))).flat();
    let previous = "0".repeat(64);
    for (const line of all) {
      expect((JSON.parse(line) as { prev: string }).prev).toBe(previous);
      previous = createHash("sha256").update(line).digest("hex");
    }
    expect(await verdict()).toEqual({ entries: 33, torn: 0, breaks: [], fromTheBeginning: true, head: previous });
  });

  test("keeps no more files than configured", async () => {
    const file = opened(path, { limits: { fileBytes: 500, keptFiles: 2 } });
    for (let index = 0; index < 30; index++) file.record(entry("refused"));
    expect((await auditFiles(path)).map((each) => each.slice(path.length))).toEqual([".2", ".1", ""]);
    expect(await verdict()).toMatchObject({ breaks: [], fromTheBeginning: false });
  });

  test("continues after a line that a crash cut off", async () => {
    await opened(path).close();
    await appendFile(path, '{"prev":"cut in the mid');
    opened(path).record(entry("refused"));
    expect(await verdict()).toMatchObject({ entries: 3, torn: 1, breaks: [] });
  });

  test("starts a new file when the old one was removed, and continues the chain", async () => {
    const file = opened(path);
    await rename(path, `${path}.1`);
    file.record(entry("refused"));
    expect(await eventsOf(path)).toEqual(["refused"]);
    expect(await verdict()).toMatchObject({ entries: 2, breaks: [] });
  });

  test("reports a full disk once, never throws, and counts lost entries", () => {
    const problems: string[] = [];
    const file = opened("/dev/full", { limits: { bufferedEntries: 5 }, onProblem: ({ message }) => problems.push(message) });
    for (let index = 0; index < 20; index++) file.record(entry("refused"));
    expect(problems).toEqual(["the audit log /dev/full cannot be written (ENOSPC); entries are buffered, then only counted"]);
    expect(file.dropped).toBe(16); // 5 wait, one of them is that the log was opened
  });

  test("writes queued entries and the number of lost ones when the disk is back", async () => {
    const inner = join(folder, "disk");
    await mkdir(inner);
    const log = join(inner, "audit.log");
    const file = opened(log, { limits: { bufferedEntries: 3, flushMs: 20 } });
    await rm(inner, { recursive: true });
    for (let index = 0; index < 10; index++) file.record(entry("refused"));
    await mkdir(inner);
    await expect.poll(() => eventsOf(log).catch(() => [])).toEqual(["refused", "refused", "refused", "log.dropped"]);
    expect(JSON.parse((await linesOf(log)).at(-1) ?? "")).toMatchObject({ calls: 7 });
    file.record(entry("refused"));
    expect(await eventsOf(log)).toHaveLength(5);
  });

  test("limits immediate writes in a flood; the rest is queued like successes", async () => {
    const file = opened(path, { limits: { atOncePerSecond: 3, bufferedEntries: 1_000 }, now: () => 0 });
    for (let index = 0; index < 10; index++) file.record(entry("refused"));
    expect(await eventsOf(path)).toHaveLength(3);
    await file.close();
    expect(await eventsOf(path)).toHaveLength(11);
  });

  test("refuses an unwritable path at start", () => {
    expect(() => openAuditFile(join(folder, "no", "such", "folder"))).toThrow("cannot be opened (ENOENT)");
  });

  test("has every refusal after SIGKILL, and not one line too few in the chain", async () => {
    const program = `
      import { openAuditFile } from ${JSON.stringify(compiled("src/public/auth.ts"))};
      const file = openAuditFile(process.argv[1]);
      let count = 0;
      const more = () => {
        for (let index = 0; index < 50; index++) {
          file.record({ at: new Date().toISOString(), event: "authenticated", who: "ann", what: "a" });
          file.record({ at: new Date().toISOString(), event: "refused", who: "x", what: "r" });
          count++;
        }
        process.stdout.write(count + "\\n", () => setImmediate(more));
      };
      more();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program, path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let told = 0;
    const enough = new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk) => {
        told = Number(String(chunk).trim().split("\n").at(-1));
        if (told >= 400) resolve();
      });
    });
    await enough;
    child.kill("SIGKILL");
    await once(child, "close");
    const events = (await eventsOf(path)).filter((event) => event === "refused");
    expect(events.length).toBeGreaterThanOrEqual(400);
    expect(await verdict()).toMatchObject({ breaks: [] });
  });
});

describe("verifyAudit()", () => {
  async function written(): Promise<string[]> {
    const file = opened(path);
    for (let index = 0; index < 5; index++) file.record(entry("refused", `GET /${index}`));
    await file.close();
    return [...(await linesOf(path))];
  }

  for (const [words, change, line] of [
    ["removed", (lines: string[]) => lines.splice(2, 1), 3],
    ["changed", (lines: string[]) => (lines[2] = String(lines[2]).replace("GET /1", "GET /9")), 4],
    ["swapped", (lines: string[]) => lines.splice(2, 2, String(lines[3]), String(lines[2])), 3],
    ["repeated", (lines: string[]) => lines.splice(2, 0, String(lines[2])), 4],
  ] as const)
    test(`sees that a line was ${words}`, async () => {
      const lines = await written();
      change(lines);
      await writeFile(path, `${lines.join("\n")}\n`);
      expect((await verdict()).breaks[0]).toEqual({ file: path, line });
    });

  test("shows by its head that the last lines are missing", async () => {
    const lines = await written();
    const { head } = await verdict();
    await writeFile(path, `${lines.slice(0, -1).join("\n")}\n`);
    expect(await verdict()).toMatchObject({ breaks: [] });
    expect((await verdict()).head).not.toBe(head);
  });

  test("reads a line without an end and one that is endless, in bounded memory", async () => {
    await written();
    await appendFile(path, "x".repeat(300_000));
    expect(await verdict()).toMatchObject({ entries: 6, breaks: [] });
    expect((await verdict()).torn).toBeGreaterThan(0);
  });
});
