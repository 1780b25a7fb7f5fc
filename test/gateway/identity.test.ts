import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { configFrom, openGateway } from "../../apps/gateway/index.js";
import { agent, bridge, connect, DiscoveryCache, type Server, serve } from "../../src/index.js";
import { changeIdentity, DEFAULT_LIMITS, writeNewIdentity } from "../../src/internal.js";
import { createReplayGuard } from "../../src/public/auth.js";
import { createIdentity, didSignatures } from "../../src/public/identity.js";
import { makeAuthority } from "../certificates.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-gateway-identity-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const who = agent({ name: "who", description: "Says who asks", handle: ({ text }, task) => `${task.owner}: ${text}` });
/** A process that served before could have accepted a request. This one knows that there was none. */
const replay = () => createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 });

/** Over TLS: the caller proved who it is, so the upstream must too. */
async function admitting(did: string): Promise<Server & { readonly ca: string }> {
  const authority = await makeAuthority();
  const tls = await authority.issue({ hosts: ["127.0.0.1"] });
  const server = await serve(who, { admission: didSignatures({ dids: [did] }), replay: replay(), tls });
  closing.push(() => server.close());
  return { ...server, ca: authority.ca };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

test("bridge({ identity }) signs to an upstream that admits only its DID, for callers that sign with theirs", async () => {
  const own = createIdentity({ name: "own", did: "key" });
  const ann = createIdentity({ name: "ann", did: "key" });
  const upstream = await admitting(own.did);
  const bridged = await bridge(upstream.url, {
    identity: own,
    credentials: { tls: { ca: upstream.ca } },
    bridge: { name: "who" },
  });
  closing.push(() => bridged.close());
  const server = await serve(bridged, { admission: didSignatures({ dids: [ann.did] }), replay: replay() });
  closing.push(() => server.close());

  const peer = await connect(server.url, { identity: ann, discoveryCache: new DiscoveryCache() });
  closing.push(() => peer.close());
  expect(await peer.ask("hello")).toBe(`did:${own.did}: hello`);
  const anonymous = await connect(server.url, { discoveryCache: new DiscoveryCache() });
  closing.push(() => anonymous.close());
  await expect(anonymous.ask("hello")).rejects.toMatchObject({ code: "unauthenticated" });
});

describe("the identity of a gateway", () => {
  test("is published, read again with a reload, and gone when the member is", async () => {
    const port = await freePort();
    const did = `did:web:localhost%3A${port}`;
    const file = join(folder, "gateway.json");
    await writeNewIdentity(file, createIdentity({ name: "gateway", did }));
    const upstream = await serve(who);
    closing.push(() => upstream.close());
    const config = (more: object) =>
      configFrom(
        {
          as: ["a2a"],
          listen: { port, publicUrl: `http://localhost:${port}` },
          agents: [{ name: "who", upstream: upstream.url }],
          ...more,
        },
        { folder, env: {} },
      );
    const gateway = await openGateway(config({ identity: "gateway.json" }));
    closing.push(() => gateway.close());
    const published = () => fetch(`http://localhost:${port}/.well-known/did.json`);
    expect(await (await published()).json()).toMatchObject({ id: did, authentication: [`${did}#key-1`] });

    await changeIdentity(file, (identity) => identity.rotated({ overlapMs: 60_000, kinds: ["Ed25519"] }));
    expect(await gateway.reload(config({ identity: "gateway.json" }))).toMatchObject({ kept: ["who"] });
    expect(await (await published()).json()).toMatchObject({ authentication: [`${did}#key-3`, `${did}#key-1`] });

    await writeNewIdentity(join(folder, "other.json"), createIdentity({ name: "other", did: "did:web:other.example" }));
    await expect(gateway.reload(config({ identity: "other.json" }))).rejects.toThrow(
      `identity cannot be used: no protocol of this server uses an identity, and it cannot publish did:web:other.example`,
    );
    await gateway.reload(config({}));
    expect((await published()).status).toBe(404);
  });

  test("for each upstream is the nearest one: its own, its agent's, or the default", () => {
    const upstreams = [
      { id: "a", url: "http://127.0.0.1:1", identity: "a.json" },
      { id: "b", url: "http://127.0.0.1:2" },
    ];
    const { agents } = configFrom(
      {
        defaults: { identity: "default.json" },
        agents: [
          { name: "several", upstreams, identity: "agent.json" },
          { name: "one", upstream: "http://127.0.0.1:3" },
        ],
      },
      { folder, env: {} },
    );
    expect(agents.flatMap((each) => each.upstreams.map(({ identity, identityPath }) => [identity, identityPath]))).toEqual([
      ["a.json", ["agents", 0, "upstreams", 0, "identity"]],
      ["agent.json", ["agents", 0, "identity"]],
      ["default.json", ["defaults", "identity"]],
    ]);
  });

  test("whose signing key is revoked is refused for an upstream", async () => {
    const file = join(folder, "revoked.json");
    const did = "did:web:revoked.example";
    await writeNewIdentity(file, createIdentity({ name: "revoked", did }).revoked(`${did}#key-1`));
    const config = configFrom(
      { listen: { port: 0 }, agents: [{ name: "who", upstream: "http://127.0.0.1:9", identity: "revoked.json" }] },
      { folder, env: {} },
    );
    await expect(openGateway(config)).rejects.toThrow(
      "agents[0].identity cannot be used: identity revoked has no valid key that signs; rotate its keys",
    );
  });
});
