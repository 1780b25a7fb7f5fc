import { once } from "node:events";
import { createServer } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { AgentError } from "../../src/index.js";
import { isAlive, nodeOf, onA2a, Site, script, until } from "./running.js";

const IDLE = "setInterval(() => {}, 1000)";
const QUICK = { backoffMs: 1, restartsPerMinute: 2 } as const;

describe("processes of a plan", () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open();
  });
  afterEach(async () => {
    await site.stopAll();
    site.lines.length = 0;
  });
  afterAll(() => site.close());

  const lineMatching = (pattern: RegExp): string =>
    site.lines.map((line) => pattern.exec(line)?.[1]).find((each) => each !== undefined) ?? "";

  it("are given up after repeated crashes, and restarted on request", async () => {
    const launched = await site.launch({ decisions: onA2a("a"), modules: [script("a", "process.exit(7)")] }, { limits: QUICK });
    const [gaveUp] = await launched.settled();
    expect(gaveUp).toMatchObject({ state: "gave-up", restarts: 2, pid: undefined });
    expect(gaveUp?.problem).toBe("exited with code 7; gave up after 2 restarts within a minute");
    await launched.restart("a");
    expect(await until(launched, "a", ({ state, restarts }) => state === "gave-up" && restarts > 2)).toMatchObject({
      restarts: 5,
    });
  });

  it("are stopped and reported when they never become ready", async () => {
    const limits = { backoffMs: 1, restartsPerMinute: 0 };
    const module = script("a", IDLE, { ready: { timeout: 0.2 } });
    const launched = await site.launch({ decisions: onA2a("a"), modules: [module] }, { limits });
    const { pid = 0 } = nodeOf(launched, "a");
    const [status] = await launched.settled();
    expect(status?.state).toBe("gave-up");
    expect(status?.problem).toMatch(/^was not ready within 0\.2 s: /);
    expect(isAlive(pid)).toBe(false);
  });

  it("are not started when a port is in use", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number }; // a TCP server has one
    try {
      const modules = [script("a", IDLE), script("b", IDLE, { port })];
      const refused = await site.launch({ decisions: onA2a("a", "b"), modules }).catch((thrown: unknown) => thrown);
      expect(refused).toBeInstanceOf(AgentError);
      expect(refused).toMatchObject({ code: "conflict", message: `port ${port} of module b is already in use` });
    } finally {
      taken.close();
    }
  });

  it("report why they cannot be started", async () => {
    const module = { id: "a", command: ["no-such-program-of-ours"] };
    const launched = await site.launch({ decisions: onA2a("a"), modules: [module] }, { limits: { restartsPerMinute: 0 } });
    expect((await launched.settled())[0]?.problem).toMatch(/^cannot be started \(ENOENT\); /);
    expect(() => launched.kill("a")).toThrow("a has no running process: its state is gave-up");
    const odd = { decisions: onA2a("a"), modules: [{ id: "a", command: ["no\u0000program"] }] };
    const refused = await site.launch(odd, { limits: { restartsPerMinute: 0 } });
    expect((await refused.settled())[0]?.problem).toMatch(/^cannot be started \(.*null bytes/);
  });

  it("end with all their children, even if these ignore SIGTERM", async () => {
    const stubborn = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("child", process.pid)';
    const lines = `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(stubborn)}], { stdio: "inherit" }); ${stubborn.replace("child", "parent")}`;
    const launched = await site.launch({ decisions: onA2a("a"), modules: [script("a", lines)] }, { limits: { drainMs: 200 } });
    await expect
      .poll(() => lineMatching(/child (\d+)/) !== "" && lineMatching(/parent (\d+)/) !== "", { timeout: 10_000 })
      .toBe(true);
    const pids = [Number(lineMatching(/child (\d+)/)), Number(lineMatching(/parent (\d+)/))];
    expect(pids.map(isAlive)).toEqual([true, true]);
    await launched.stop();
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false]);
    expect(nodeOf(launched, "a").state).toBe("stopped");
  });

  it("drain before they are killed", async () => {
    const lines = `process.on("SIGTERM", () => { console.log("drained"); process.exit(0); }); ${IDLE}; console.log("up")`;
    const launched = await site.launch({ decisions: onA2a("a"), modules: [script("a", lines)] });
    await expect.poll(() => site.lines, { timeout: 10_000 }).toContain("a: up");
    await launched.stop();
    await expect.poll(() => site.lines).toContain("a: drained");
  });

  it("get their port, their peers, and no secret of other modules", async () => {
    const printEnvironment = `console.log(JSON.stringify([process.env.PORT, process.env.KOINE_PEERS, process.env.MINE, process.env.A_SECRET, process.env.B_SECRET])); ${IDLE}`;
    const modules = [
      script("a", printEnvironment, { neighbours: ["b"], env: { MINE: "a" }, credentials: { bearer: { env: "A_SECRET" } } }),
      script("b", printEnvironment, { credentials: { bearer: { env: "B_SECRET" } } }),
    ];
    const env = { ...process.env, A_SECRET: "secret-of-module-a", B_SECRET: "secret-of-module-b" };
    const launched = await site.launch({ decisions: onA2a("a", "b"), modules }, { env });
    await expect.poll(() => site.lines.length, { timeout: 10_000 }).toBe(2);
    const [a, b] = ["a", "b"].map(
      (id) => JSON.parse(site.lines.find((line) => line.startsWith(`${id}: `))?.slice(3) ?? "") as string[],
    );
    const { url } = nodeOf(launched, "b");
    expect(a).toEqual([
      new URL(nodeOf(launched, "a").url).port,
      `{"b":{"url":"${url}","protocol":"a2a","tokenEnv":"B_SECRET"}}`,
      "a",
      "secret-of-module-a",
      "secret-of-module-b",
    ]);
    // Callers of b need its secret; b calls no one.
    expect(b).toEqual([new URL(url).port, "{}", null, null, "secret-of-module-b"]);
  });

  it("require the secrets of the plan before anything starts", async () => {
    const modules = [script("a", IDLE, { credentials: { bearer: { env: "NOT_THERE" } } })];
    await expect(site.launch({ decisions: onA2a("a"), modules }, { env: {} })).rejects.toMatchObject({
      code: "unauthenticated",
      message: "secret NOT_THERE of the plan is missing or empty",
    });
  });

  it("have long output lines truncated", async () => {
    const lines = `process.stdout.write("x".repeat(100000)); process.stdout.write("\\nnext\\n"); ${IDLE}`;
    await site.launch({ decisions: onA2a("a"), modules: [script("a", lines)] }, { limits: { lineCharacters: 50 } });
    await expect.poll(() => site.lines, { timeout: 10_000 }).toEqual([`a: ${"x".repeat(50)}`, "a: next"]);
  });
});
