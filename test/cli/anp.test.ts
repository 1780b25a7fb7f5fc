import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../anp/directory.js";
import { createWorkspace, koine, type Serving, serving, type Workspace } from "./koine.js";

/** ANP on the command line: an agent with a did:wba is served, called and checked by its DID. */

const SET = ["--set", "anp.loopbackHttp=true"];
let workspace: Workspace;
let served: Serving;
let did: string;
beforeAll(async () => {
  workspace = await createWorkspace();
  const agent = await workspace.write("agent.mjs", "export const handle = (message, task) => task.owner + ': ' + message.text;");
  const port = await freePort();
  const file = workspace.path("desk.json");
  const made = await koine([
    "identity",
    "create",
    file,
    "--did",
    `did:wba:localhost%3A${port}:desk:e1_{fingerprint}`,
    "-o",
    "json",
  ]);
  did = (JSON.parse(made.stdout) as { did: string }).did;
  served = await serving([agent, "--identity", file, ...SET], {}, port);
}, 60_000);
afterAll(async () => {
  await served?.stop();
  await workspace.clear();
});

describe("koine with the DID of an agent", () => {
  test("sends, with its own DID if it has one", async () => {
    const anonymous = await koine(["send", did, "hello", "--protocol", "anp@1.2/JSONRPC", ...SET]);
    expect([anonymous.stdout.trim(), anonymous.code]).toEqual(["anonymous:anonymous: hello", 0]);
    // The agent itself has a DID whose document is published.
    const named = await koine([
      "send",
      did,
      "hello",
      "--protocol",
      "anp@1.2/JSONRPC",
      "--identity",
      workspace.path("desk.json"),
      ...SET,
    ]);
    expect([named.stdout.trim(), named.code]).toEqual([`did:${did}: hello`, 0]);
  }, 60_000);

  test("shows its card, and says why a DID cannot be resolved", async () => {
    const card = await koine(["card", "get", did, "-o", "json", ...SET]);
    expect([card.code, card.stdout]).toEqual([0, expect.stringContaining('"anp"')]);
    const unknown = await koine(["send", `${did.slice(0, -3)}xyz`, "hello", ...SET]);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("could not be resolved")]);
  }, 60_000);

  test("prints the document of a DID with a successor, and refuses one at another subject", async () => {
    const next = did.replace(/e1_.*/, `e1_${"A".repeat(43)}`);
    const retired = await koine(["anp", "retire", workspace.path("desk.json"), next]);
    expect(JSON.parse(retired.stdout)).toMatchObject({
      id: did,
      deactivated: true,
      successorDid: next,
      proof: { verificationMethod: `${did}#key-1` },
    });
    const other = await koine(["anp", "retire", workspace.path("desk.json"), "did:wba:elsewhere.example:desk:e1_x"]);
    expect([other.code, other.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining("the successor must be at did:wba:localhost"),
    ]);
    expect(other.code).not.toBe(0);
  }, 60_000);

  test("checks it in six groups, and nothing is unmet", async () => {
    const checked = await koine(["conform", did, "-o", "json", ...SET]);
    const report = JSON.parse(checked.stdout) as {
      counts: { unmet: number };
      verdicts: { capability: string; outcome: string }[];
    };
    expect([checked.code, report.counts.unmet]).toEqual([0, 0]);
    const met = report.verdicts.filter(({ outcome }) => outcome === "met");
    expect(new Set(met.map(({ capability }) => capability)).size).toBeGreaterThanOrEqual(5);
  }, 120_000);
});
