import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exited } from "../child-process.js";
import { createWorkspace, koine, type Workspace } from "../cli/koine.js";
import { KOINE } from "../programs.js";

/** The commands as a user runs them: a development chain in one process, an agent registered on it from others. */

let workspace: Workspace;
let running: ChildProcess | undefined;
beforeAll(async () => {
  workspace = await createWorkspace();
});
afterAll(async () => {
  running?.kill("SIGKILL");
  await workspace.clear();
});

interface Ready {
  readonly rpc: string;
  readonly registry: string;
  readonly pid: number;
}

function chainDev(): Promise<Ready> {
  const started = spawn(process.execPath, [...KOINE, "sage", "chain", "dev", "--port", "0", "-o", "json"]);
  running = started;
  return new Promise((resolve, reject) => {
    let output = "";
    started.once("exit", (code) => reject(new Error(`it exited with ${code}: ${output}`)));
    started.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    started.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.includes("}\n")) resolve(JSON.parse(output) as Ready);
    });
  });
}

test("a chain, an agent on it, and an end that leaves nothing running", { timeout: 90_000 }, async () => {
  const { rpc, registry, pid } = await chainDev();
  const file = workspace.path("agent.json");
  const did = (await koine(["sage", "create", file])).stdout.trim();
  const chain = ["--rpc", rpc, "--registry", registry];
  const registered = await koine(["sage", "register", file, "--endpoint", "https://agent.example", ...chain]);
  expect([registered.code, registered.stdout]).toEqual([0, expect.stringMatching(/register +transaction 0x[0-9a-f]{64}/)]);
  const shown = await koine(["sage", "show", did, ...chain, "-o", "json"]);
  expect(JSON.parse(shown.stdout)).toMatchObject({ did, active: true, source: { kind: "chain", registry } });
  running?.kill("SIGINT");
  if (running !== undefined) await exited(running);
  expect(running?.exitCode).toBe(0);
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  const refused = await koine(["sage", "show", did, ...chain]);
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("cannot be asked")]);
});

test("the same without a chain, in the embedded registry", { timeout: 60_000 }, async () => {
  const file = workspace.path("embedded.json");
  const data = ["--data", workspace.path("state")];
  const did = (await koine(["sage", "create", file])).stdout.trim();
  const registered = await koine(["sage", "register", file, ...data]);
  expect([registered.code, registered.stdout]).toEqual([0, expect.stringContaining("record 2 of the embedded registry")]);
  const shown = await koine(["sage", "show", did, ...data, "-o", "json"]);
  expect(JSON.parse(shown.stdout)).toMatchObject({ did, active: true, source: { kind: "embedded", record: 2 } });
});
