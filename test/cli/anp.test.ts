import { spawn } from "node:child_process";
import { chmod, stat } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../anp/directory.js";
import { compiled } from "../programs.js";
import { createWorkspace, koine, outcomeOf, type Serving, seen, serving, type Workspace } from "./koine.js";

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

  test("shows its card", async () => {
    const card = await koine(["card", "get", did, "-o", "json", ...SET]);
    expect([card.code, card.stdout]).toEqual([0, expect.stringContaining('"anp"')]);
  }, 60_000);

  test("says why a DID cannot be resolved, and why a handshake failed: E_CONN with the finer code beside it", async () => {
    const other = `${did.slice(0, -3)}xyz`;
    const unknown = await koine(["send", other, "hello", "-o", "json", ...SET]);
    expect([unknown.code, JSON.parse(unknown.stderr)]).toEqual([
      4,
      {
        error: {
          code: "identity_unresolved",
          face: "E_CONN",
          message: expect.stringContaining("could not be resolved"),
          hint: expect.any(String),
          details: { reason: "not_found", did: other },
        },
      },
    ]);
    const handshake = await koine(["send", did, "hello", "-o", "json", "--set", `anp.peer=${other}`, ...SET]);
    expect([handshake.code, JSON.parse(handshake.stderr)]).toEqual([
      4,
      {
        error: {
          code: "handshake_failed",
          face: "E_CONN",
          message: expect.stringContaining("wrong_recipient"),
          hint: expect.any(String),
          details: { reason: "refused_by_peer", code: "unauthenticated" },
        },
      },
    ]);
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
      verdicts: { id: string; capability: string; outcome: string; detail?: string }[];
    };
    expect([checked.code, report.counts.unmet]).toEqual([0, 0]);
    const met = report.verdicts.filter(({ outcome }) => outcome === "met");
    expect(new Set(met.map(({ capability }) => capability)).size).toBe(6);
    // What happens inside a session was tried, not skipped.
    const sessions = report.verdicts.filter(({ id }) => /^anp:1\.2:session:/.test(id));
    expect(sessions.filter(({ outcome }) => outcome !== "met")).toEqual([]);
    expect(sessions.length).toBeGreaterThanOrEqual(16);
  }, 120_000);
});

describe("direct messages between two processes", () => {
  test("are answered by messages: to the call that waits, and to the inbox", async () => {
    const port = await freePort();
    const file = workspace.path("ann.json");
    const own = ["--did", `did:wba:localhost%3A${port}:ann:e1_{fingerprint}`, "-o", "json"];
    const made = JSON.parse((await koine(["identity", "create", file, ...own])).stdout) as { did: string };
    const caller = spawn(process.execPath, [compiled("test/anp/processes/direct-caller.ts"), file, String(port), did]);
    const { stdout, stderr, code } = await outcomeOf(caller);
    expect([code, stderr]).toEqual([0, ""]);
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([{ asked: `did:${made.did}: now` }, { received: `did:${made.did}: later`, from: did }]);
  }, 60_000);
});

describe("koine anp retire", () => {
  test("keeps the document with the new identity; koine serve publishes it after SIGHUP, and the old DID is called there", async () => {
    const port = await freePort();
    const create = async (name: string): Promise<string> => {
      const args = ["identity", "create", workspace.path(name), "--did", `did:wba:localhost%3A${port}:shop:e1_{fingerprint}`];
      return (JSON.parse((await koine([...args, "-o", "json"])).stdout) as { did: string }).did;
    };
    const [oldest, old, current] = [await create("oldest.json"), await create("old.json"), await create("new.json")];
    const agent = await workspace.write("shop.mjs", "export const handle = (message) => 'shop: ' + message.text;");
    const shop = await serving([agent, "--identity", workspace.path("new.json"), ...SET], {}, port);
    try {
      const statusOf = async (of: string) =>
        (await fetch(`http://localhost:${port}/${of.split(":").slice(3).join("/")}/did.json`)).status;
      await koine(["anp", "retire", workspace.path("oldest.json"), workspace.path("old.json")]);
      const retired = await koine(["anp", "retire", workspace.path("old.json"), workspace.path("new.json"), "-o", "json"]);
      const kept = workspace.path("new.json.retired");
      expect(JSON.parse(retired.stdout)).toMatchObject({ keptIn: kept, document: { id: old, successorDid: current } });
      expect((await stat(kept)).mode & 0o777).toBe(0o600);
      expect([await statusOf(old), await statusOf(current)]).toEqual([404, 200]);
      const reloaded = seen(shop.child.stderr, /Identity reloaded/);
      shop.child.kill("SIGHUP");
      await reloaded;
      expect([await statusOf(oldest), await statusOf(old), await statusOf(current)]).toEqual([200, 200, 200]);
      const called = await koine(["send", oldest, "hello", ...SET]);
      expect([called.stdout.trim(), called.code]).toEqual(["shop: hello", 0]);
      // A file that others can change is not published; what was read before stays.
      await chmod(kept, 0o644);
      const rejected = seen(shop.child.stderr, /reload rejected.*chmod 600/);
      shop.child.kill("SIGHUP");
      await rejected;
      expect(await statusOf(old)).toBe(200);
    } finally {
      await shop.stop();
    }
  }, 120_000);
});
