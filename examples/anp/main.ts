/** ANP: an agent with a did:wba identity on this machine, found by its DID; callers sign every request with theirs. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { agent, connect, type Server, serve } from "koine";
import { createIdentity, type Identity, keyFingerprint } from "koine/identity";

/** A DID names the port of its web server, so the port is chosen first. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

// On one machine there is no TLS: documents are fetched by http, because the settings say so.
const settings = { anp: { loopbackHttp: true } };

async function start(name: string): Promise<{ readonly server: Server; readonly identity: Identity }> {
  const port = await freePort();
  const identity = createIdentity({ name, did: (key) => `did:wba:localhost%3A${port}:${name}:e1_${keyFingerprint(key)}` });
  const made = agent({ name, description: "Says who called", handle: (_message, task) => `you are ${task.caller}` });
  return { server: await serve(made, { port, identity, settings }), identity };
}

const [desk, ann] = [await start("desk"), await start("ann")];

// By its DID: the document is resolved, its proof is checked, and its service is called.
const peer = await connect(desk.identity.did, { identity: ann.identity, settings, pin: "anp" });
assert.equal(await peer.ask("who am I?"), `you are ${ann.identity.did}`);
console.log(`${desk.identity.name} answers ${ann.identity.did}`);

// Anyone else can call with a plain request, and is nobody in particular.
const body = JSON.stringify({ jsonrpc: "2.0", id: "1", method: "ask", params: { text: "who am I?" } });
const plain = await fetch(`${desk.server.url}/anp/rpc`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body,
});
assert.match(await plain.text(), /you are anonymous/);

// A request that claims a signature and has none is refused, not taken for a plain one.
const forged = await fetch(`${desk.server.url}/anp/rpc`, {
  method: "POST",
  headers: { "content-type": "application/json", "signature-input": `sig1=("@method");keyid="${ann.identity.did}#key-1"` },
  body,
});
assert.equal(forged.status, 401);
console.log(forged.headers.get("www-authenticate"));

// The seeds' plain form in a WebSocket session: neither signed nor sealed, so it is used only where it is asked for.
const old = await connect(`${desk.server.url.replace("http", "ws")}/ws`, { pin: "anp@plain/WS" });
assert.equal(await old.ask("who am I?"), "you are anonymous");
await old.close();

await peer.close();
await Promise.all([desk.server.close(), ann.server.close()]);
