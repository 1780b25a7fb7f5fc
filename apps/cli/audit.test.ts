import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AuditEntry, openAuditFile } from "../../src/public/auth.js";
import { koine } from "../../test/cli/koine.js";
import { KOINE } from "../../test/programs.js";

/** The real command line, as a process of its own, on logs that this one writes. */

let folder: string;
let path: string;
const entry = (at: string, event: AuditEntry["event"], more: Partial<AuditEntry> = {}): AuditEntry => ({
  at,
  event,
  who: "ann",
  what: "POST /a2a",
  ...more,
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-cli-audit-"));
  path = join(folder, "audit.log");
  const log = openAuditFile(path, { limits: { fileBytes: 500 }, now: () => Date.parse("2026-01-31T10:00:00Z") });
  log.record(entry("2026-01-31T11:00:00.000Z", "authenticated", { scheme: "bearer", remote: "192.0.2.7" }));
  log.record(
    entry("2026-01-31T12:00:00.000Z", "refused", { who: "unknown", code: "unauthenticated", reason: "first\n\u001b[2J" }),
  );
  log.record(entry("2026-01-31T13:00:00.000Z", "refused", { who: "bob", code: "forbidden", reason: "second" }));
  log.record(entry("2026-01-31T14:00:00.000Z", "key.rotated", { who: "https://issuer.example", what: "keys" }));
  await log.close();
});
afterAll(() => rm(folder, { recursive: true }));

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [...KOINE, "audit", ...args], {
    env: { PATH: process.env["PATH"] },
    stdio: ["ignore", "pipe", "pipe"],
  });
}
async function audit(...args: readonly string[]) {
  const outcome = await koine(["audit", ...args]);
  return { ...outcome, lines: outcome.stdout.split("\n").filter((line) => line !== "") };
}
const read = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as AuditEntry);

// Each test starts processes, which is slow on a busy machine.
describe("koine audit", { timeout: 60_000 }, () => {
  test("prints every file in order, one line each, without control characters", async () => {
    const { code, lines, stdout } = await audit(path);
    expect(code).toBe(0);
    expect(lines.map((line) => line.split(/\s+/).slice(0, 3).join(" "))).toEqual([
      "2026-01-31T10:00:00.000Z log.opened koine",
      "2026-01-31T11:00:00.000Z authenticated ann",
      "2026-01-31T12:00:00.000Z refused unknown",
      "2026-01-31T13:00:00.000Z refused bob",
      "2026-01-31T14:00:00.000Z key.rotated https://issuer.example",
    ]);
    expect(lines[1]).toContain("ann (bearer) POST /a2a; from 192.0.2.7");
    expect(stdout).not.toContain("\u001b");
  });

  test("filters entries, and prints them as JSON with -o json", async () => {
    const [refused, since, who] = await Promise.all([
      audit(path, "--event", "refused", "-o", "json"),
      audit(path, "--since", "2026-01-31T13:00:00Z", "-o", "json"),
      audit(path, "--who", "bob", "-o", "json"),
    ]);
    expect(read(refused.lines).map(({ reason }) => reason)).toEqual(["first\n\u001b[2J", "second"]);
    expect(read(since.lines).map(({ event }) => event)).toEqual(["refused", "key.rotated"]);
    expect(read(who.lines)).toMatchObject([{ who: "bob", code: "forbidden" }]);
  });

  test("verifies the chain, and reports where it is broken", async () => {
    const whole = await audit(path, "--verify");
    expect([whole.code, whole.lines[0]]).toEqual([0, "5 lines in 3 files; from the first line ever written"]);
    expect(whole.lines.at(-1)).toMatch(/^head [0-9a-f]{64}$/);

    const copy = join(folder, "changed.log");
    const text = (await Promise.all([".2", ".1", ""].map((end) => readFile(`${path}${end}`, "utf8")))).join("");
    await writeFile(copy, `${text.replace("second", "nothing")}{"torn`);
    const broken = await audit(copy, "--verify", "-o", "json");
    expect(broken.code).toBe(1);
    expect(JSON.parse(broken.stdout)).toMatchObject({ whole: false, torn: 1, breaks: [{ file: copy, line: 5 }] });
    expect(JSON.parse(broken.stderr)).toMatchObject({ error: { code: "audit_broken" } });
    const tolerant = await audit(copy);
    expect([tolerant.code, tolerant.lines.length]).toEqual([0, 5]);
    expect(tolerant.stderr).toContain("line 6: cannot be read");
  });

  test("follows a log through a rotation, from its first line on, until it is interrupted", async () => {
    const live = join(folder, "live.log");
    const log = openAuditFile(live, { limits: { fileBytes: 400 } });
    const child = start([live, "--follow", "-o", "json"]);
    let stdout = "";
    const lines = () => stdout.split("\n").filter((line) => line !== "");
    child.stdout?.on("data", (chunk) => (stdout += chunk));
    await expect.poll(() => lines().length, { timeout: 15_000 }).toBe(1);
    // Two lines fill a file, so these go through several rotations before the next poll.
    for (let index = 0; index < 6; index++) log.record(entry("2026-01-31T12:00:00.000Z", "refused", { reason: String(index) }));
    await expect.poll(() => lines().length, { timeout: 15_000 }).toBe(7);
    child.kill("SIGINT");
    const [code] = (await once(child, "close")) as [number | null]; // the arguments of `close`
    await log.close();
    expect(code).toBe(0);
    expect(read(lines()).map(({ reason }) => reason)).toEqual([undefined, "0", "1", "2", "3", "4", "5"]);
  });

  test("rejects invalid arguments", async () => {
    const [missing, both] = await Promise.all([audit(join(folder, "none.log")), audit(path, "--verify", "--follow")]);
    expect([missing.code, both.code]).toEqual([2, 2]);
    expect(missing.stderr).toContain("there is no audit log");
  });
});

test("skips lines that are not entries", { timeout: 60_000 }, async () => {
  const odd = join(folder, "odd.log");
  await appendFile(odd, "hello\n");
  const { code, stderr } = await audit(odd);
  expect(code).toBe(0);
  expect(stderr).toContain("line 1: cannot be read");
});
