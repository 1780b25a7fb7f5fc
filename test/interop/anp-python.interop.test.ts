import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { agent, connect, DiscoveryCache, serve } from "../../src/index.js";
import { anp } from "../../src/protocols/anp/index.js";
import { boundIdentity, DidDirectory, freePort, LOOPBACK } from "../anp/directory.js";
import { tamperedLink } from "../anp/tampered-link.js";
import { pythonFor, runScript, startPython } from "./python.js";

/** The official ANP library in Python, in both directions: authentication, described interfaces, changed requests. */

const environment = "anp-1.0.7";
const available = pythonFor(environment) !== undefined;
const closing: (() => Promise<unknown>)[] = [];
let directory: DidDirectory;
beforeAll(async () => {
  directory = await DidDirectory.open();
});
afterAll(() => directory.close());
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe.skipIf(!available).each(["openanp", "fastanp"])("an agent of %s", (kind) => {
  const documents = (): string => `http://127.0.0.1:${directory.port}`;

  test.each(["signature", "header", "token"])("answers a caller that proves its DID by %s", async (authentication) => {
    const server = await startPython({ environment, file: "anp_server" }, kind, documents());
    closing.push(() => server.close());
    const peer = await connect(`${server.url.replace("127.0.0.1", "localhost")}/ad.json`, {
      protocols: [anp],
      identity: await directory.create(`to-${kind}`),
      settings: { anp: { ...LOOPBACK.anp, authentication } },
      discoveryCache: new DiscoveryCache(),
    });
    closing.push(() => peer.close());
    expect([peer.binding, peer.card.name]).toEqual(["OPENRPC", "Greeter"]);
    for (const name of ["ann", "bob"]) {
      const answer = await peer.send(name);
      expect(answer).toMatchObject({ kind: "message", message: { content: [{ data: { greeting: `hello ${name}` } }] } });
    }
  });

  test("refuses a request that was changed, and one without a proof", async () => {
    const server = await startPython({ environment, file: "anp_server" }, kind, documents());
    closing.push(() => server.close());
    const url = `${server.url.replace("127.0.0.1", "localhost")}/ad.json`;
    const options = { protocols: [anp], settings: LOOPBACK, discoveryCache: new DiscoveryCache() };
    const changed = await connect(url, {
      ...options,
      identity: await directory.create(`changed-${kind}`),
      link: tamperedLink((body) => body.replace("ann", "eve")),
    });
    closing.push(() => changed.close());
    await expect(changed.send("ann")).rejects.toMatchObject({ code: "unauthenticated" });
    const unproven = await connect(url, { ...options, discoveryCache: new DiscoveryCache() });
    closing.push(() => unproven.close());
    await expect(unproven.send("ann")).rejects.toMatchObject({ code: "unauthenticated" });
  });
});

describe.skipIf(!available).each(["e1", "k1"])("the official client with a DID of profile %s", (profile) => {
  test("is authenticated by every scheme, calls the described interface, and is refused if its request is changed", async () => {
    const made = await runScript({ environment, file: "anp_identity" }, String(directory.port), profile);
    const { document, key } = made as { document: { id: string }; key: string };
    directory.put(document.id, JSON.stringify(document));
    const folder = await mkdtemp(join(tmpdir(), "koine-anp-"));
    closing.push(() => rm(folder, { recursive: true }));
    const [documentFile, keyFile] = [join(folder, "did.json"), join(folder, "key.pem")];
    await writeFile(documentFile, JSON.stringify(document));
    await writeFile(keyFile, key, { mode: 0o600 });
    const port = await freePort();
    const who = agent({ name: "who", description: "says who called", handle: (_message, task) => task.owner });
    const server = await serve(who, { protocols: [anp], port, identity: boundIdentity(port, "who"), settings: LOOPBACK });
    closing.push(() => server.close());
    const seen = await runScript({ environment, file: "anp_client" }, `${server.url}/anp/ad.json`, documentFile, keyFile);
    const answered = { status: 200, error: null, answer: { text: `did:${document.id}` } };
    expect(seen).toMatchObject({
      http_signatures: answered,
      "http_signatures token": answered,
      legacy_didwba: answered,
      changed: { status: 401, error: "invalid_content_digest", answer: null },
      discovered: { name: "who", methods: expect.arrayContaining(["ask", "koine.send"]) },
      called: { text: `did:${document.id}` },
    });
  });
});

describe.skipIf(!available)("a direct message of the official library", () => {
  test("is accepted by its origin proof, refused if it was changed, and answered by one whose proof the library accepts", async () => {
    const [answers, port] = [await freePort(), await freePort()];
    const made = await runScript({ environment, file: "anp_identity" }, String(directory.port), "e1");
    const { document, key } = made as { document: { id: string }; key: string };
    // The library proves documents when it makes them: the service is in one of ours, with the same key, at a DID without a fingerprint.
    const did = `did:wba:localhost%3A${directory.port}:python`;
    const renamed = JSON.parse(JSON.stringify(document).replaceAll(document.id, did)) as Record<string, unknown>;
    const service = [{ id: `${did}#m`, type: "ANPMessageService", serviceEndpoint: `http://127.0.0.1:${answers}/rpc` }];
    const { proof: _, ...own } = renamed;
    directory.put(did, JSON.stringify({ ...own, service }));
    const identity = boundIdentity(port, "desk");
    const desk = agent({ name: "desk", description: "d", handle: ({ text }) => `desk heard: ${text}` });
    const server = await serve(desk, { protocols: [anp], port, identity, settings: LOOPBACK });
    closing.push(() => server.close());
    const folder = await mkdtemp(join(tmpdir(), "koine-anp-"));
    closing.push(() => rm(folder, { recursive: true }));
    const files = ["did.json", "key.pem", "desk.json"].map((name) => join(folder, name)) as [string, string, string];
    const desksDocument = await (
      await fetch(`http://localhost:${port}/${identity.did.split(":").slice(3).join("/")}/did.json`)
    ).text();
    await writeFile(files[0], JSON.stringify(own));
    await writeFile(files[1], key, { mode: 0o600 });
    await writeFile(files[2], desksDocument);
    const seen = await runScript(
      { environment, file: "anp_direct" },
      `${server.url}/anp/rpc`,
      identity.did,
      ...files,
      String(answers),
    );
    expect(seen).toMatchObject({
      changed: "bad_signature",
      accepted: { accepted: true, message_id: "py-1", target_did: identity.did },
      answer: { text: "desk heard: hello from python", reply_to: "py-1", proved: true, changed: false },
    });
  });
});
