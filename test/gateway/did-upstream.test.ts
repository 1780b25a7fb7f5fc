import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { configFrom, openGateway } from "../../apps/gateway/index.js";
import { agent, connect, serve } from "../../src/index.js";
import { anp } from "../../src/protocols/anp/index.js";
import { writeNewIdentity } from "../../src/security/identity/index.js";
import { boundIdentity, DidDirectory, freePort, LOOPBACK } from "../anp/directory.js";

/** A gateway that calls an agent by its DID, with an identity of its own. */

const closing: (() => Promise<unknown>)[] = [];
let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-did-"));
  closing.push(() => rm(folder, { recursive: true, force: true }));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function customs(): Promise<string> {
  const port = await freePort();
  const identity = boundIdentity(port, "customs");
  const made = agent({ name: "customs", description: "says who called", handle: (_message, task) => task.owner });
  const server = await serve(made, { protocols: [anp], port, identity, settings: LOOPBACK, require: ["end-to-end"] });
  closing.push(() => server.close());
  return identity.did;
}

describe("an upstream that is a DID", () => {
  it("is called in a sealed session, as the identity of the configuration", async () => {
    const directory = await DidDirectory.open();
    closing.push(() => directory.close());
    const identity = await directory.create("gateway");
    await writeNewIdentity(join(folder, "gateway.json"), identity);
    const upstream = await customs();
    const document = {
      listen: { port: 0 },
      admin: false,
      settings: LOOPBACK,
      agents: [{ name: "customs", upstream, identity: "gateway.json" }],
    };
    const gateway = await openGateway(configFrom(document, { folder, env: {} }), { requireUpstreams: true });
    closing.push(() => gateway.close());
    expect(gateway.agents()).toMatchObject([{ name: "customs", health: "up" }]);
    const peer = await connect(gateway.url, { pin: "a2a@1.0/JSONRPC" });
    closing.push(() => peer.close());
    expect(await peer.ask("who")).toBe(`did:${identity.did}`);
  }, 30_000);

  it("needs the settings of its protocol: without them nothing without TLS is fetched", async () => {
    const upstream = await customs();
    const document = { listen: { port: 0 }, admin: false, agents: [{ name: "customs", upstream }] };
    const opening = openGateway(configFrom(document, { folder, env: {} }), { requireUpstreams: true });
    await expect(opening).rejects.toThrow(/customs/);
  }, 30_000);

  it.each(["did:", "did:wba:", "ftp://customs.example"])("%s is refused", (upstream) => {
    const document = { listen: { port: 0 }, agents: [{ name: "customs", upstream }] };
    expect(() => configFrom(document, { folder, env: {} })).toThrow(/agents\[0\]\.upstream must be/);
  });
});
