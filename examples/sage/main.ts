/** SAGE: two agents in an embedded registry. Requests and answers are signed, messages are sealed, and strangers are refused. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError, agent, connect, openSqliteStore, serve } from "koine";
import { type Identity, openIdentity } from "koine/identity";
import { protocols } from "koine/protocols";
import { recordsBelow } from "koine/stores";

/** The registry names the address of an agent, so the port is chosen first. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

// The registry is in the store that server and callers share. With a chain it would be there: see docs/sage.md.
const folder = await mkdtemp(join(tmpdir(), "koine-sage-"));
const store = await openSqliteStore({ file: join(folder, "state.db"), now: Date.now });
const sage = protocols.find(({ id }) => id === "sage");

/** A new identity, registered: what `koine sage create` and `koine sage register` do. */
async function register(name: string, endpoint: string): Promise<Identity> {
  const file = join(folder, `${name}.json`);
  await sage?.createIdentity?.(file, { endpoint, records: recordsBelow(store.records, "sage") });
  return openIdentity(file);
}

const port = await freePort();
const desk = await register("desk", `http://127.0.0.1:${port}`);
const ann = await register("ann", "");
const made = agent({ name: "desk", description: "Says who called", handle: (_message, task) => `you are ${task.caller}` });
const server = await serve(made, { port, identity: desk, store, require: ["signed", "end-to-end"] });
const { records } = store;
try {
  // By its DID: the registry says where it is and by which keys it answers.
  const peer = await connect(desk.did, { identity: ann, records });
  assert.equal(peer.protocol, "sage");
  assert.equal(await peer.ask("who am I?"), `you are ${ann.did}`);
  console.log(`${desk.did} answers ${ann.did}`);
  await peer.close();

  // Somebody in no registry is refused.
  const stranger = await openIdentity(await unregistered());
  await assert.rejects(refused(stranger), (thrown) => {
    assert(thrown instanceof AgentError);
    console.log(`refused: ${thrown.message}`);
    return thrown.facts.detail?.["error"] === "ErrDIDNotResolved";
  });
} finally {
  await server.close();
  await store.close?.();
  await rm(folder, { recursive: true });
}

async function refused(identity: Identity): Promise<void> {
  const peer = await connect(desk.did, { identity, records });
  await peer.ask("who am I?").finally(() => peer.close());
}

/** An identity in a registry of its own, which the server does not read. */
async function unregistered(): Promise<string> {
  const file = join(folder, "stranger.json");
  const elsewhere = await openSqliteStore({ file: join(folder, "elsewhere.db"), now: Date.now });
  await sage?.createIdentity?.(file, { endpoint: "", records: recordsBelow(elsewhere.records, "sage") });
  await elsewhere.close?.();
  return file;
}
