import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { agent, type Server, serve } from "../../src/index.js";
import { changeIdentity, DEFAULT_LIMITS, didDocumentOf, writeNewIdentity } from "../../src/internal.js";
import { type Admission, createReplayGuard } from "../../src/public/auth.js";
import { createIdentity, createResolver, didSignatures, openIdentity } from "../../src/public/identity.js";
import { makeAuthority } from "../certificates.js";
import { createWorkspace, koine, outcomeOf, seen, startKoine, type Workspace } from "./koine.js";

let workspace: Workspace;
beforeAll(async () => {
  workspace = await createWorkspace();
});
afterAll(() => workspace.clear());

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function identityFile(name: string, did = "key"): Promise<{ readonly file: string; readonly did: string }> {
  const identity = createIdentity({ name, did });
  const file = workspace.path(`keys/${name}.json`);
  await writeNewIdentity(file, identity);
  return { file, did: identity.did };
}

/** Where a did:web is published from its file, as an operator would. */
async function publisher(): Promise<{ readonly did: string; publish(file: string): void }> {
  let published = "";
  const server: HttpServer = createServer((_request, response) => {
    void openIdentity(published).then((identity) => response.end(JSON.stringify(didDocumentOf(identity, []))));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => server.close());
  return {
    did: `did:web:localhost%3A${(server.address() as AddressInfo).port}`,
    publish: (file) => {
      published = file;
    },
  };
}

interface Upstream extends Server {
  /** The keys of the signatures that were admitted. */
  readonly keyIds: Set<string>;
  forget(did: string): void;
}

/** An agent that says who calls it, and admits one DID. */
async function upstreamFor(did: string): Promise<Upstream> {
  const keyIds = new Set<string>();
  const resolver = createResolver({ httpForLoopback: true, from: "loopback" });
  const signed = didSignatures({ dids: [did] });
  const admission: Admission = Object.assign(
    (...[head, facts]: Parameters<Admission>) => {
      const keyId = /keyid="([^"]+)"/.exec(head.headers["signature-input"] ?? "")?.[1];
      if (keyId !== undefined) keyIds.add(keyId);
      return signed(head, facts);
    },
    { ...signed },
  );
  const who = agent({ name: "who", description: "Says who asks", handle: ({ text }, task) => `${task.owner}: ${text}` });
  // A process that served before could have accepted a request. This one knows that there was none.
  const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 });
  // Over TLS: the caller proved who it is, so the upstream must too.
  const authority = await makeAuthority();
  await workspace.write("ca.pem", authority.ca);
  const tls = await authority.issue({ hosts: ["127.0.0.1"] });
  const server = await serve(who, { admission, replay, resolver, tls });
  closing.push(() => server.close());
  return Object.assign(server, { keyIds, forget: (each: string) => resolver.forget(each) });
}

async function started(args: readonly string[]): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const child = startKoine([...args, "-o", "json"]);
  const ended = once(child, "close");
  closing.push(async () => {
    child.kill();
    await ended;
  });
  let errors = "";
  child.stderr?.on("data", (chunk) => (errors += chunk));
  const line = await seen(child.stdout, /^\{.*\}$/m).catch(() => {
    throw new Error(`nothing is served: ${errors}`);
  });
  return { url: (JSON.parse(line) as { readonly url: string }).url, child };
}

/** With SQLite the gateway remembers signatures, so that it accepts them at once. */
const durable = (folder: string): string =>
  `store: { sqlite: ${JSON.stringify(workspace.path(folder))} }\nsecret: { file: ${JSON.stringify(workspace.path("secret"))} }`;

beforeAll(() => workspace.write("secret", "a secret of the gateway 0123456789"));

describe("koine gateway with identities", () => {
  test("admits callers by DID, signs to an upstream that admits only its DID, and uses a rotated key after SIGHUP", async () => {
    const web = await publisher();
    const gateway = await identityFile("gateway", web.did);
    web.publish(gateway.file);
    const [ann, mallory] = await Promise.all([identityFile("ann"), identityFile("mallory")]);
    const upstream = await upstreamFor(gateway.did);
    const config = await workspace.write(
      "koine.yaml",
      `listen: { port: 0 }
${durable("data")}
auth: { dids: ["${ann.did}"] }
agents:
  - name: who
    upstream: ${upstream.url}
    identity: keys/gateway.json
    credentials: { tls: { ca: ca.pem } }
`,
    );
    const { url, child } = await started(["gateway", config]);
    const ask = (file: string) => koine(["send", url, "hello", "--identity", file]);

    const [hers, others, nobody] = await Promise.all([ask(ann.file), ask(mallory.file), koine(["send", url, "hello"])]);
    expect([hers.stdout.trim(), hers.code]).toEqual([`did:${gateway.did}: hello`, 0]);
    expect([others.code, nobody.code]).toEqual([4, 4]);
    expect([...upstream.keyIds]).toEqual([`${gateway.did}#key-1`]);

    await changeIdentity(gateway.file, (identity) => identity.rotated({ overlapMs: 0, kinds: ["Ed25519"] }));
    upstream.forget(gateway.did);
    upstream.keyIds.clear();
    const reloaded = seen(child.stdout, /"kind":"reloaded".*/);
    child.kill("SIGHUP");
    expect(JSON.parse(`{${await reloaded}`)).toMatchObject({ changed: ["who"] });
    upstream.keyIds.clear();
    expect(await ask(ann.file)).toMatchObject({ code: 0, stdout: `did:${gateway.did}: hello\n` });
    expect([...upstream.keyIds]).toEqual([`${gateway.did}#key-3`]);
  });

  test("names the line of an identity that it cannot use", async () => {
    const open = await identityFile("open");
    await chmod(open.file, 0o644);
    await identityFile("elsewhere", "did:web:elsewhere.example");
    const lines = (auth: string): string => `listen: { port: 0, publicUrl: "http://localhost:1" }
identity: keys/elsewhere.json
${auth}
defaults: { identity: keys/open.json }
agents:
  - { name: one, upstream: "http://127.0.0.1:9" }
  - { name: two, upstream: "http://127.0.0.1:9" }
as: [a2a]
`;
    const noDid = await koine(["gateway", await workspace.write("no-did.yaml", lines("auth: { dids: [ann] }")), "--check"]);
    expect([noDid.code, noDid.stderr]).toEqual([2, expect.stringContaining("no-did.yaml:3:16: auth.dids[0] must be a DID")]);
    const outcome = await koine(["gateway", await workspace.write("refused.yaml", lines("")), "--check"]);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toContain("refused.yaml:2:11: identity cannot be used: no protocol of this server uses an identity");
    expect(outcome.stderr).toContain(`refused.yaml:4:23: defaults.identity cannot be used: ${open.file}`);
    expect(outcome.stderr).toContain(`chmod 600 ${open.file}`);
    expect(outcome.stderr.match(/defaults\.identity/g)).toHaveLength(1);
  });
});

describe("koine bridge with identities", () => {
  test("signs to its upstream, and admits callers by DID", async () => {
    const [bridge, ann] = await Promise.all([identityFile("bridge"), identityFile("bridge-caller")]);
    const upstream = await upstreamFor(bridge.did);
    const flags = [
      "--data",
      workspace.path("bridge-data"),
      "--secret-file",
      workspace.path("secret"),
      "--port",
      "0",
      "--ca",
      workspace.path("ca.pem"),
    ];
    const { url } = await started(["bridge", upstream.url, "--identity", bridge.file, "--allow-did", ann.did, ...flags]);
    expect(await koine(["send", url, "hello", "--identity", ann.file])).toMatchObject({
      code: 0,
      stdout: `did:${bridge.did}: hello\n`,
    });
    expect((await koine(["send", url, "hello"])).code).toBe(4);
  });

  test("refuses a value that is no DID, and a listener identity that it cannot publish", async () => {
    const bridge = await identityFile("listener");
    const upstream = await upstreamFor(bridge.did);
    const flags = ["bridge", upstream.url, "--identity", bridge.file, "--port", "0", "--ca", workspace.path("ca.pem")];
    const [wrong, unpublished] = await Promise.all([
      outcomeOf(startKoine([...flags, "--allow-did", "ann"])),
      outcomeOf(startKoine([...flags, "--as", "a2a", "--listener-identity", bridge.file])),
    ]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--allow-did ann is not a DID")]);
    expect([unpublished.code, unpublished.stderr]).toEqual([2, expect.stringContaining("identity cannot be used: no protocol")]);
  });
});
