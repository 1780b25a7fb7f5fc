import type { ChildProcess } from "node:child_process";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../anp/directory.js";
import { exited } from "../child-process.js";
import { createWorkspace, koine, seen, serving, startKoine, type Workspace } from "../cli/koine.js";

/** `koine gateway` in front of an agent that accepts only signed and sealed messages: plain probes of it are refused. */

let workspace: Workspace;
let desk: { readonly file: string; readonly did: string; readonly url: string };
let [ann, gateway] = ["", ""];
const closing: (() => Promise<unknown>)[] = [];
const running: ChildProcess[] = [];
beforeAll(async () => {
  workspace = await createWorkspace();
  const agent = await workspace.write("agent.mjs", "export const handle = (message, task) => task.owner + ': ' + message.text;");
  const port = await freePort();
  const registered = async (name: string, endpoint: string) => {
    const file = workspace.path(`${name}.json`);
    const did = (await koine(["sage", "create", file])).stdout.trim();
    const done = await koine(["sage", "register", file, "--endpoint", endpoint, "--data", workspace.path("state")]);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    return { file, did, url: endpoint };
  };
  desk = await registered("desk", `http://127.0.0.1:${port}`);
  ann = (await registered("ann", "http://127.0.0.1:1")).file;
  gateway = (await registered("gateway", "http://127.0.0.1:1")).did;
  const data = ["--data", workspace.path("state"), "--no-seal-store"];
  const served = await serving([agent, "--identity", desk.file, "--require", "signed,end-to-end", ...data], {}, port);
  closing.push(() => served.stop());
  await workspace.write("secret", "0123456789abcdef0123456789abcdef");
}, 120_000);
const stopAll = async (): Promise<void> => {
  for (const child of running.splice(0)) {
    child.kill("SIGTERM");
    await exited(child);
  }
};
afterEach(stopAll);
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await workspace.clear();
});

/**
 * What the gateway says when it has started, and its address. On a busy machine the upstream may answer after the time for its
 * discovery: then the gateway starts again. The test's timeout bounds this.
 */
async function started(upstream: string): Promise<{ readonly said: string; readonly url: string }> {
  for (;;) {
    const start = await startedOnce(upstream);
    if (start.said.includes("verified by a live answer")) return start;
    await stopAll();
  }
}

async function startedOnce(upstream: string): Promise<{ readonly said: string; readonly url: string }> {
  const port = await freePort();
  const file = await workspace.write(
    "koine.yaml",
    `
listen: { port: ${port} }
identity: ./gateway.json
as: [a2a, sage]
secret: { file: ./secret }
store: { sqlite: ./state, seal: false }
agents:
  - name: desk
    upstream: "${upstream}"
    identity: ./gateway.json
    require: [signed, end-to-end]
`,
  );
  const child = startKoine(["gateway", file]);
  running.push(child);
  let said = "";
  child.stderr?.on("data", (chunk) => (said += chunk));
  await seen(child.stderr, /Press Ctrl-C/);
  return { said, url: `http://127.0.0.1:${port}` };
}

describe("an upstream with require: [signed, end-to-end]", () => {
  test("by its DID: it is called by SAGE, and nothing says that calls are refused", { timeout: 120_000 }, async () => {
    const { said, url } = await started(desk.did);
    expect(said).toContain("sage@1/JSONRPC, verified by a live answer");
    expect(said).not.toContain("are refused");
    const store = ["--store", workspace.path("state")];
    const sent = await koine(["send", url, "hello", "--protocol", "sage", "--identity", ann, ...store]);
    expect([sent.stdout.trim(), sent.code]).toEqual([`did:${gateway}: hello`, 0]);
  });

  test("by its address: SAGE is found, though probes by other protocols are refused or answered", {
    timeout: 120_000,
  }, async () => {
    const { said } = await started(desk.url);
    expect(said).toContain(`upstream ${desk.url}  sage@1/JSONRPC, verified by a live answer`);
  });
});
