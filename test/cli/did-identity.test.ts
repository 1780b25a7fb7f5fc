import { once } from "node:events";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent as agentOf, serve } from "../../src/index.js";
import { changeIdentity, DEFAULT_LIMITS } from "../../src/internal.js";
import { createReplayGuard } from "../../src/public/auth.js";
import { didSignatures } from "../../src/public/identity.js";
import { createWorkspace, koine, type Serving, seen, serving, startKoine, type Workspace } from "./koine.js";

let workspace: Workspace;
let agent: string;
beforeAll(async () => {
  workspace = await createWorkspace();
  agent = await workspace.write("agent.mjs", "export const handle = (message) => message.text;");
});
afterAll(() => workspace.clear());

const secretsIn = async (file: string): Promise<readonly string[]> =>
  [...(await readFile(file, "utf8")).matchAll(/"d": "([^"]+)"/g)].map(([, secret = ""]) => secret);

describe("koine identity", () => {
  test("creates a DID that names its key", async () => {
    const made = await koine([
      "identity",
      "create",
      workspace.path("keys/named.json"),
      "--did",
      "did:example:a:e1_{fingerprint}",
      "-o",
      "json",
    ]);
    const { did, keys } = JSON.parse(made.stdout) as { did: string; keys: { fingerprint: string }[] };
    expect(did).toBe(`did:example:a:e1_${keys[0]?.fingerprint}`);
  });

  test("creates, shows, rotates and revokes, and prints no private key", async () => {
    const file = workspace.path("keys/support.json");
    const made = await koine(["identity", "create", file, "--did", "web:agents.example.com", "-o", "json"]);
    expect(made.code).toBe(0);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const shown = JSON.parse(made.stdout) as {
      did: string;
      publishAt: string;
      keys: { id: string; state: string; kind: string }[];
    };
    expect(shown).toMatchObject({
      name: "support",
      did: "did:web:agents.example.com",
      publishAt: "https://agents.example.com/.well-known/did.json",
      keys: [
        { id: "did:web:agents.example.com#key-1", kind: "Ed25519", state: "active" },
        { id: "did:web:agents.example.com#key-2", kind: "X25519", state: "active" },
      ],
    });
    const secrets = await secretsIn(file);
    expect(secrets).toHaveLength(2);
    const again = await koine(["identity", "create", file]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("exists; it is not overwritten")]);
    const rotated = await koine(["identity", "rotate", file, "--kind", "Ed25519", "--overlap", "60"]);
    expect([rotated.code, rotated.stdout]).toEqual([
      0,
      expect.stringMatching(/#key-1 {2}Ed25519 {2}rotated[\s\S]*#key-3 {2}Ed25519 {2}active/),
    ]);
    const revoked = await koine(["identity", "revoke", file, "#key-1", "-o", "json"]);
    expect(JSON.parse(revoked.stdout)).toMatchObject({ keys: [{ state: "revoked" }, { state: "active" }, { state: "active" }] });
    const document = await koine(["identity", "document", file, "--service", "https://agents.example.com"]);
    expect(JSON.parse(document.stdout)).toMatchObject({
      id: "did:web:agents.example.com",
      authentication: ["did:web:agents.example.com#key-3"],
      keyAgreement: ["did:web:agents.example.com#key-2"],
      service: [{ serviceEndpoint: "https://agents.example.com" }],
    });
    const everything = [made, again, rotated, revoked, document].map(({ stdout, stderr }) => stdout + stderr).join("");
    for (const secret of [...secrets, ...(await secretsIn(file))]) expect(everything).not.toContain(secret);
  });

  test.each([
    [["identity", "create", "/tmp/none/x.json", "--kind", "RSA"], 2, "there is no such kind of key"],
    [["identity", "create", "/tmp/none/x.json", "--did", "web:Agents.example"], 2, "is not a valid did:web"],
    [["identity", "show", "/tmp/none/x.json"], 1, "does not exist; create it with"],
    [["identity"], 2, "koine identity"],
  ])("%j ends with %i", async (args, code, problem) => {
    const outcome = await koine(args);
    expect([outcome.code, outcome.stdout + outcome.stderr]).toEqual([code, expect.stringContaining(problem)]);
  });
});

describe("an identity on the wire", () => {
  let served: Serving;
  const file = () => workspace.path("callers/ann.json");
  let did: string;
  beforeAll(async () => {
    const { stdout } = await koine(["identity", "create", file(), "-o", "json"]);
    did = (JSON.parse(stdout) as { did: string }).did;
    served = await serving([agent, "--allow-did", did]);
  });
  afterAll(() => served.stop());

  test("admits the caller that signs with its key, under its DID", async () => {
    const who = agentOf({ name: "who", description: "Says who asks", handle: ({ text }, task) => `${task.owner}: ${text}` });
    // A process that served before could have accepted the request. This one knows that there was none.
    const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 });
    const server = await serve(who, { admission: didSignatures({ dids: [did] }), replay });
    try {
      const outcome = await koine(["send", server.url, "hello", "--identity", file()]);
      expect([outcome.stdout.trim(), outcome.code]).toEqual([`did:${did}: hello`, 0]);
    } finally {
      await server.close();
    }
  });

  test("refuses everyone else", async () => {
    expect((await koine(["send", served.url, "hello"])).code).toBe(4);
    const other = workspace.path("callers/mallory.json");
    await koine(["identity", "create", other]);
    expect((await koine(["send", served.url, "hello", "--identity", other])).code).toBe(4);
  });

  test("refuses a file that others can read, before anything is sent", async () => {
    const open = workspace.path("callers/open.json");
    await koine(["identity", "create", open]);
    await chmod(open, 0o644);
    const outcome = await koine(["send", served.url, "hello", "--identity", open]);
    expect([outcome.code, outcome.stderr]).toEqual([1, expect.stringContaining(`chmod 600 ${open}`)]);
  });

  test("koine serve reads its identity again on SIGHUP, and keeps the keys if the file is invalid", async () => {
    const own = workspace.path("served/own.json");
    await koine(["identity", "create", own, "--did", "web:agents.example.com"]);
    const tokens = await workspace.write("tokens", "ann=token-of-ann-0123456789\n");
    const child = startKoine([
      ...["serve", agent, "--port", "0", "-o", "json", "--token-file", tokens],
      ...["--public-url", "https://agents.example.com", "--identity", own],
    ]);
    try {
      const { port } = JSON.parse(await seen(child.stdout, /^\{.*\}$/m)) as { readonly port: number };
      const keys = async (): Promise<unknown> => {
        const response = await fetch(`http://127.0.0.1:${port}/.well-known/did.json`);
        return ((await response.json()) as { readonly authentication: unknown }).authentication;
      };
      expect(await keys()).toEqual(["did:web:agents.example.com#key-1"]);
      await changeIdentity(own, (identity) => identity.rotated({ overlapMs: 0, kinds: ["Ed25519"] }));
      const reloaded = seen(child.stderr, /Identity reloaded\./);
      child.kill("SIGHUP");
      await reloaded;
      expect(await keys()).toEqual(["did:web:agents.example.com#key-3"]);
      await writeFile(own, "{}");
      const rejected = seen(child.stderr, /Identity reload rejected; still using the previous keys/);
      child.kill("SIGHUP");
      await rejected;
      expect(await keys()).toEqual(["did:web:agents.example.com#key-3"]);
    } finally {
      const ended = once(child, "close");
      child.kill();
      await ended;
    }
  });

  test("koine serve refuses an identity that it cannot publish", async () => {
    const outcome = await koine(["serve", agent, "--port", "0", "--as", "a2a", "--identity", file()]);
    expect([outcome.code, outcome.stderr]).toEqual([2, expect.stringContaining("no protocol of this server uses an identity")]);
  });
});
