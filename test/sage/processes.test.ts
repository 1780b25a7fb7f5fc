import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Report } from "../../conformance/index.js";
import { CONFORMANCE_AREAS } from "../../src/protocols/requirement.js";
import { freePort } from "../anp/directory.js";
import { exited } from "../child-process.js";
import { createWorkspace, koine, koineAlone, type Serving, seen, serving, type Workspace } from "../cli/koine.js";
import { KOINE } from "../programs.js";

/** Two processes that find each other by a registry, and speak by SAGE: without a chain, and on one. */

let workspace: Workspace;
let agent: string;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  workspace = await createWorkspace();
  agent = await workspace.write("agent.mjs", "export const handle = (message, task) => task.owner + ': ' + message.text;");
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await workspace.clear();
});

/** An identity in a file, registered where `registry` says. */
async function registered(name: string, registry: readonly string[], endpoint?: string): Promise<{ file: string; did: string }> {
  const file = workspace.path(`${name}.json`);
  const did = (await koine(["sage", "create", file])).stdout.trim();
  const at = endpoint === undefined ? [] : ["--endpoint", endpoint];
  const done = await koine(["sage", "register", file, ...at, ...registry]);
  expect([done.code, done.stderr]).toEqual([0, ""]);
  return { file, did };
}

async function servedBy(file: string, port: number, more: readonly string[]): Promise<Serving> {
  const served = await serving([agent, "--identity", file, "--require", "signed,end-to-end", ...more], {}, port);
  closing.push(() => served.stop());
  return served;
}

describe("an agent in the embedded registry", () => {
  const state = () => workspace.path("state");

  test("is sent a signed message by its DID; a plain one is refused", { timeout: 120_000 }, async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const desk = await registered("desk", ["--data", state()], url);
    const ann = await registered("ann", ["--data", state()]);
    await servedBy(desk.file, port, ["--data", state()]);
    const sent = await koine(["send", desk.did, "hello", "--identity", ann.file, "--store", state(), "-v"]);
    expect([sent.stdout.trim(), sent.code]).toEqual([`did:${ann.did}: hello`, 0]);
    expect(sent.stderr).toContain("sage@1 JSONRPC, verified by a live answer");
    expect(sent.stderr).toContain(`it proved to be ${desk.did}`);
    const conforming = await koine(["conform", desk.did, "--identity", ann.file, "--store", state(), "-o", "json"]);
    const { verdicts, conforms } = JSON.parse(conforming.stdout) as Report;
    expect([conforming.code, conforms]).toEqual([0, true]);
    expect(new Set(verdicts.map(({ protocol }) => protocol))).toEqual(new Set(["sage"]));
    const callers = verdicts.filter(({ id }) => id.includes(":caller:"));
    expect(new Set(callers.map(({ capability }) => capability))).toEqual(new Set(CONFORMANCE_AREAS));
    expect(callers.filter(({ outcome }) => outcome !== "met")).toEqual([]);
    const plain = await koine(["send", url, "hello", "--protocol", "a2a"]);
    expect([plain.code, plain.stderr]).toEqual([expect.any(Number), expect.stringContaining("signed")]);
    expect(plain.code).not.toBe(0);
    const anonymous = await koine(["send", desk.did, "hello", "--store", state()]);
    expect([anonymous.stdout, anonymous.stderr]).toEqual(["", expect.stringContaining("koine sage create")]);
    const nowhere = await koine(["send", desk.did, "hello", "--identity", ann.file]);
    expect([nowhere.stdout, nowhere.stderr]).toEqual(["", expect.stringContaining("no registry is configured for local")]);
    const misspelled = await koine(["send", desk.did, "hello", "--identity", ann.file, "--store", workspace.path("none")]);
    expect([misspelled.code, misspelled.stderr]).toEqual([2, expect.stringContaining("there is no folder")]);
  });
});

describe("an agent on a chain", () => {
  test("is sent a signed message by its DID, and none once its node has stopped", { timeout: 180_000 }, async () => {
    const chain = spawn(process.execPath, [...KOINE, "sage", "chain", "dev", "--port", "0", "-o", "json"]);
    closing.push(() => stopped(chain));
    const ready = JSON.parse(await seen(chain.stdout, /\{[\s\S]*\}\n/)) as { readonly rpc: string; readonly registry: string };
    const registry = ["--rpc", ready.rpc, "--registry", ready.registry];
    const port = await freePort();
    const desk = await registered("chain-desk", registry, `http://127.0.0.1:${port}`);
    const ann = await registered("chain-ann", registry);
    const set = ["--set", `sage.rpc=${ready.rpc}`, "--set", `sage.registry=${ready.registry}`];
    await servedBy(desk.file, port, set);
    const sent = await koine(["send", desk.did, "hello", "--identity", ann.file, ...set]);
    expect([sent.stdout.trim(), sent.code]).toEqual([`did:${ann.did}: hello`, 0]);
    await stopped(chain);
    const refused = await koineAlone(["send", desk.did, "hello", "--identity", ann.file, ...set]);
    expect([refused.stdout, refused.code, refused.stderr]).toEqual(["", 3, expect.stringContaining("could not be resolved")]);
  });
});

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGINT");
  await exited(child);
}
