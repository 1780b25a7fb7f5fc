import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CancelSource, type JsonObject } from "../../src/envelope/index.js";
import { agent, connect, DiscoveryCache, serve } from "../../src/index.js";
import { didWba } from "../../src/protocols/anp/identity/did-wba.js";
import { wbaDocument } from "../../src/protocols/anp/identity/document.js";
import { anp } from "../../src/protocols/anp/index.js";
import { createResolver, type DidResolver, type LocalIdentity } from "../../src/security/identity/index.js";
import { boundIdentity, DidDirectory, freePort, LOOPBACK } from "./directory.js";

/** A DID that is bound to a key is replaced by another one: what follows it, and what does not. */

let directory: DidDirectory;
let ahead: number;
let resolver: DidResolver;
beforeAll(async () => {
  directory = await DidDirectory.open();
});
afterAll(() => directory.close());
beforeEach(() => {
  ahead = 0;
  resolver = createResolver({
    methods: [didWba({ loopbackHttp: true })],
    from: "loopback",
    now: () => Date.now() + ahead,
  });
});

const cancel = new CancelSource();
const current = (did: string) => resolver.resolveCurrent(did, cancel);
/** Identities of one subject, all published and in use. */
const desks = (subject: string, count: number) => Promise.all(Array.from({ length: count }, () => directory.create(subject)));
const retire = (old: LocalIdentity, next: LocalIdentity) => directory.publish(old, next.did);
const invalid = { code: "bad_peer", facts: { detail: { reason: "did_transition_invalid" } } };

describe("a DID with a successor", () => {
  test.each([["Ed25519"], ["secp256k1"]] as const)("of a %s key leads to the DID in use", async (kind) => {
    const [first, second] = [await directory.create("desk", [kind]), await directory.create("desk", [kind])];
    const last = await directory.create("desk");
    await retire(first, second);
    await retire(second, last);
    const { document, former } = await current(first.did);
    expect([document.id, former]).toEqual([last.did, [first.did, second.did]]);
    expect(await current(last.did)).toMatchObject({ document: { id: last.did }, former: [] });
  });

  test("is read again when its document has been kept long enough", async () => {
    const [old, next] = (await desks("kept", 2)) as [LocalIdentity, LocalIdentity];
    await retire(old, next);
    const asked = directory.asked.length;
    await current(old.did);
    await current(old.did);
    expect(directory.asked.length - asked).toBe(2);
    ahead = 61_000;
    await current(old.did);
    expect(directory.asked.length - asked).toBe(4);
  });

  test("is called at its successor, which must prove the new DID", async () => {
    const port = await freePort();
    const [first, second, next] = ["desk", "desk", "desk"].map((name) => boundIdentity(port, name)) as [
      LocalIdentity,
      LocalIdentity,
      LocalIdentity,
    ];
    const other = boundIdentity(port, "other");
    const documents: JsonObject[] = [await wbaDocument(other, { services: [], successor: next.did }, Date.now())];
    const identity = Object.assign(next, { retired: () => documents });
    const server = await serve(agent({ name: "desk", description: "d", handle: () => "here" }), {
      protocols: [anp],
      port,
      identity,
      settings: LOOPBACK,
    });
    const status = async (did: string) =>
      (await fetch(`http://localhost:${port}/${did.split(":").slice(3).join("/")}/did.json`)).status;
    expect([await status(first.did), await status(other.did), await status(next.did)]).toEqual([404, 404, 200]);
    // Retired while the server runs.
    documents.push(await wbaDocument(first, { services: [], successor: second.did }, Date.now()));
    documents.push(await wbaDocument(second, { services: [], successor: next.did }, Date.now()));
    expect([await status(first.did), await status(second.did)]).toEqual([200, 200]);
    const peer = await connect(first.did, {
      protocols: [anp],
      settings: LOOPBACK,
      discoveryCache: new DiscoveryCache(),
      resolver,
    });
    expect([peer.binding, await peer.ask("?")]).toEqual(["WS", "here"]);
    await peer.close();
    await server.close();
  });
});

describe("a successor is refused", () => {
  test("that the key of the old DID did not sign", async () => {
    const [old, next, thief] = (await desks("shop", 3)) as [LocalIdentity, LocalIdentity, LocalIdentity];
    const signed = await wbaDocument(old, { services: [], successor: next.did }, Date.now());
    directory.put(old.did, JSON.stringify({ ...signed, successorDid: thief.did }));
    await expect(current(old.did)).rejects.toMatchObject(invalid);
    const { proof: _, ...unsigned } = signed;
    directory.put(old.did, JSON.stringify(unsigned));
    resolver.forget(old.did);
    await expect(current(old.did)).rejects.toMatchObject(invalid);
    const { proof } = await wbaDocument(thief, { services: [] }, Date.now());
    directory.put(old.did, JSON.stringify({ ...signed, proof }));
    resolver.forget(old.did);
    await expect(current(old.did)).rejects.toMatchObject(invalid);
  });

  test("at another subject, and of a DID that is bound to no key", async () => {
    const [old, other] = [await directory.create("one"), await directory.create("other")];
    await retire(old, other);
    await expect(current(old.did)).rejects.toMatchObject(invalid);
    const plain = `did:wba:localhost%3A${directory.port}:plain`;
    directory.put(plain, JSON.stringify({ id: plain, deactivated: true, successorDid: other.did }));
    await expect(current(plain)).rejects.toMatchObject(invalid);
  });

  test("if there is none", async () => {
    const old = await directory.create("gone");
    directory.put(old.did, JSON.stringify({ id: old.did, deactivated: true }));
    await expect(current(old.did)).rejects.toMatchObject(invalid);
  });

  test("that leads back, with a proof at every step", async () => {
    const [a, b] = (await desks("loop", 2)) as [LocalIdentity, LocalIdentity];
    await retire(a, b);
    await retire(b, a);
    const asked = directory.asked.length;
    await expect(current(a.did)).rejects.toMatchObject(invalid);
    expect(directory.asked.length - asked).toBe(2);
  });

  test("after more steps than are followed", async () => {
    const chain = await desks("chain", 10);
    for (const [index, next] of chain.slice(1).entries()) await retire(chain[index] as LocalIdentity, next);
    const last = chain.at(-1)?.did;
    expect((await current(chain[1]?.did ?? "")).document.id).toBe(last); // eight steps
    await expect(current(chain[0]?.did ?? "")).rejects.toMatchObject(invalid);
  });
});

describe("a document that is swapped after the rotation", () => {
  const conflict = { code: "bad_peer", facts: { detail: { reason: "did_transition_conflict" } } };

  test("is refused, although the old key signed it: the earlier one, and one with another successor", async () => {
    const [old, next, other] = (await desks("bank", 3)) as [LocalIdentity, LocalIdentity, LocalIdentity];
    await retire(old, next);
    expect((await current(old.did)).document.id).toBe(next.did);
    await directory.publish(old);
    ahead = 61_000;
    await expect(current(old.did)).rejects.toMatchObject(conflict);
    await expect(resolver.resolve(old.did, cancel)).rejects.toMatchObject(conflict);
    await retire(old, other);
    ahead = 122_000;
    await expect(current(old.did)).rejects.toMatchObject(conflict);
    await retire(old, next);
    ahead = 183_000;
    expect((await current(old.did)).document.id).toBe(next.did);
  });

  test("cannot take a DID out of use for good without its key", async () => {
    const [mine, thief] = (await desks("mine", 2)) as [LocalIdentity, LocalIdentity];
    directory.put(mine.did, JSON.stringify({ id: mine.did, deactivated: true, successorDid: thief.did }));
    await expect(current(mine.did)).rejects.toMatchObject(invalid);
    await directory.publish(mine);
    ahead = 61_000;
    expect((await current(mine.did)).document.id).toBe(mine.did);
  });
});
