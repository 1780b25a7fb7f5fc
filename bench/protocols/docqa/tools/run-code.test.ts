import { afterEach, describe, expect, it, vi } from "vitest";
import { CONFINE_LIMITS, type ConfineLimits, confine, confineProblem } from "./confine.js";
import { failureOf, runCode } from "./run-code.js";

const LONG = 120_000;
const js = (code: string, limits: Partial<ConfineLimits> = {}) =>
  runCode({ language: "javascript", code, input: "" }, { limits: { ...CONFINE_LIMITS, ...limits } });
/** Without Node's own refusals: what the namespaces and limits do by themselves. */
const shell = async (code: string, limits: Partial<ConfineLimits> = {}) =>
  confine({ runtime: "/bin/sh", args: ["/folder/program"], code, input: "" }, { ...CONFINE_LIMITS, ...limits });

afterEach(() => vi.restoreAllMocks());

describe.skipIf(confineProblem() !== undefined)("code that is run", { timeout: LONG }, () => {
  it("gets its input, works in an empty folder and gives what it printed", async () => {
    const code = `const fs = require("node:fs");
      fs.writeFileSync("note", fs.readFileSync(0, "utf8").toUpperCase());
      console.log(fs.readFileSync("/folder/note", "utf8"), fs.readdirSync("/folder").sort().join());`;
    expect(await runCode({ language: "javascript", code, input: "seven" })).toBe("SEVEN note,program");
  });

  it("sees nothing of the environment, of other processes and of other users' rights", async () => {
    const { stdout } = await shell(
      "env | grep -v -e ^PWD= -e ^_= -e ^OLDPWD= -e ^SHLVL=; ls /proc | grep -c '^[0-9]'; id -u; grep CapEff /proc/self/status",
    );
    const [processes, uid, caps] = stdout.trim().split("\n");
    expect(Number(processes)).toBeLessThan(5);
    expect(Number(uid)).toBe(process.getuid?.() === 0 ? 1_900_000_000 + process.pid : 0);
    expect(caps).toMatch(/CapEff:\s+0{16}$/);
  });

  it.each([
    ["network", `require("node:net").connect(80, "192.0.2.1")`],
    ["network", `require("node:net").connect(${process.debugPort}, "127.0.0.1")`],
    ["network", `require("node:dns").promises.lookup("example.org").catch((e) => { throw e; })`],
    ["processes", `for (;;) require("node:child_process").fork("/folder/program")`],
    ["processes", `new (require("node:worker_threads").Worker)("0", { eval: true })`],
    ["files", `require("node:fs").readFileSync("/etc/hostname")`],
    ["files", `require("node:fs").readFileSync("/proc/1/environ")`],
    ["files", `require("node:fs").writeFileSync("/usr/mark", "x")`],
    [
      "file_size",
      `const fs = require("node:fs"); for (let i = 0; i < 10_240; i++) fs.appendFileSync("big", Buffer.alloc(1 << 20))`,
    ],
    ["memory", `const all = []; for (;;) all.push(new Array(1e6).fill(all.length))`],
    ["memory", `const all = []; for (;;) all.push(Buffer.alloc(64 << 20, 1))`],
    ["output", `for (;;) console.log("x".repeat(1_000))`],
    ["failed", `throw new RangeError("by itself")`],
  ])("is stopped, and the reason is %s: %s", async (reason, code) => {
    await expect(js(code)).rejects.toMatchObject({ name: "Error", reason });
  });

  it("is stopped after its CPU time and after its time", async () => {
    await expect(js("for (;;);", { cpuS: 1, wallMs: 60_000 })).rejects.toMatchObject({ reason: "cpu" });
    await expect(js("setInterval(() => undefined, 1000)", { wallMs: 500 })).rejects.toMatchObject({ reason: "time" });
  });

  it.each([
    ["processes", "bomb() { bomb | bomb & bomb; }; bomb", { wallMs: 3_000 }],
    ["file_size", "dd if=/dev/urandom of=big bs=1M count=10240", {}],
    ["file_size", "i=0; while [ $i -lt 40 ]; do head -c 1000000 /dev/urandom >file$i || exit 1; i=$((i + 1)); done", {}],
    ["files", "cat /etc/passwd", {}],
    ["files", "ls /root /home /tmp", {}],
    ["files", "echo x >/usr/mark", {}],
    ["files", "mount -t tmpfs none /folder || { echo 'Permission denied' >&2; exit 1; }", {}],
  ])("is stopped by the namespaces alone, and the reason is %s: %s", async (reason, code, limits) => {
    expect(failureOf(await shell(code, limits))).toBe(reason);
  });

  it("has an interface that reaches nobody", async () => {
    const { stdout } = await shell("cat /proc/net/dev | tail -n +3 | cut -d: -f1; cat /proc/net/route | tail -n +2");
    expect(
      stdout
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "" && line !== "lo"),
    ).toEqual([]);
  });

  it("is refused if it is too long", async () => {
    await expect(js("1;".repeat(40_000))).rejects.toMatchObject({ reason: "invalid" });
  });
});

it("is never run without namespaces", async () => {
  vi.resetModules();
  vi.spyOn(process, "platform", "get").mockReturnValue("darwin");
  const { runCode: fresh } = await import("./run-code.js");
  await expect(fresh({ language: "javascript", code: "1", input: "" })).rejects.toMatchObject({
    reason: "unavailable",
    message: "running code needs the namespaces of Linux, and this is darwin",
  });
});
