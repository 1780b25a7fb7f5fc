import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../anp/directory.js";
import { exited } from "../../child-process.js";
import { createWorkspace, koine, seen, serving, startKoine, type Workspace } from "../../cli/koine.js";

/** `sage.over` as users write it: with --set of `koine serve` and `koine send`, and in koine.yaml. */

interface Registered {
  readonly file: string;
  readonly did: string;
}

let workspace: Workspace;
let [agent, state] = ["", ""];
let [ann, gateway]: Registered[] = [];
const running: ChildProcess[] = [];
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  workspace = await createWorkspace();
  state = workspace.path("state");
  agent = await workspace.write("agent.mjs", "export const handle = (message, task) => task.owner + ': ' + message.text;");
  await workspace.write("secret", "0123456789abcdef0123456789abcdef");
  ann = await registered("ann", "http://127.0.0.1:1");
  gateway = await registered("gateway", "http://127.0.0.1:1");
}, 120_000);
afterAll(async () => {
  for (const child of running) {
    child.kill("SIGTERM");
    await exited(child);
  }
  for (const close of closing) await close();
  await workspace.clear();
});

async function registered(name: string, endpoint: string): Promise<Registered> {
  const file = workspace.path(`${name}.json`);
  const did = (await koine(["sage", "create", file])).stdout.trim();
  const done = await koine(["sage", "register", file, "--endpoint", endpoint, "--data", state]);
  expect([done.code, done.stderr]).toEqual([0, ""]);
  return { file, did };
}

describe.each([
  ["acp", "ACP+REST"],
  ["agora", "AGORA+HTTP"],
])("sage.over=%s", (over, binding) => {
  let desk: Registered;
  beforeAll(async () => {
    const port = await freePort();
    desk = await registered(`desk-${over}`, `http://127.0.0.1:${port}`);
    const data = ["--data", state, "--no-seal-store"];
    const required = ["--require", "signed,end-to-end", "--set", `sage.over=${over}`];
    const served = await serving([agent, "--identity", desk.file, ...required, ...data], {}, port);
    closing.push(() => served.stop());
  }, 120_000);

  test("of koine serve and koine send", { timeout: 120_000 }, async () => {
    const identity = ["--identity", ann?.file ?? "", "--store", state];
    for (const more of [["--set", `sage.over=${over}`], []]) {
      const sent = await koine(["send", desk.did, "hello", ...identity, ...more, "-v"]);
      expect([sent.stdout.trim(), sent.code]).toEqual([`did:${ann?.did}: hello`, 0]);
      expect(sent.stderr).toContain(`sage@1 ${binding}, verified by a live answer`);
    }
    const refused = await koine(["send", desk.did, "hello", ...identity, "--set", "sage.over=a2a"]);
    expect([refused.stdout, refused.stderr]).toEqual(["", expect.stringContaining("does not offer SAGE")]);
  });

  test("of koine.yaml: callers and upstream", { timeout: 120_000 }, async () => {
    const port = await freePort();
    const file = await workspace.write(
      `koine-${over}.yaml`,
      `
listen: { port: ${port} }
identity: ./gateway.json
as: [a2a, acp, agora, sage]
secret: { file: ./secret }
store: { sqlite: ./state, seal: false }
settings: { sage: { over: "${over}" } }
agents:
  - name: desk
    upstream: "${desk.did}"
    identity: ./gateway.json
    require: [signed, end-to-end]
`,
    );
    const child = startKoine(["gateway", file]);
    running.push(child);
    let said = "";
    child.stderr?.on("data", (chunk) => (said += chunk));
    await seen(child.stderr, /Press Ctrl-C/);
    expect(said).toContain(`sage@1/${binding}, verified by a live answer`);
    const through = ["--protocol", "sage", "--identity", ann?.file ?? "", "--store", state, "-v"];
    const sent = await koine(["send", `http://127.0.0.1:${port}`, "hello", ...through]);
    expect([sent.stdout.trim(), sent.code]).toEqual([`did:${gateway?.did}: hello`, 0]);
    expect(sent.stderr).toContain(`sage@1 ${binding}, verified by a live answer`);
  });
});
