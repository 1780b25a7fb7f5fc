import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resolverFor } from "../../../src/client/did-resolvers.js";
import { CancelSource } from "../../../src/envelope/index.js";
import {
  type Message,
  MessageVerifier,
  newMessage,
  readMessage,
  signMessage,
  writeMessage,
} from "../../../src/protocols/sage/api/index.js";
import { createSageIdentity } from "../../../src/protocols/sage/identity/own-identity.js";
import { createIdentity, type LocalIdentity, type Resolver } from "../../../src/security/identity/index.js";
import { createReplayGuard } from "../../../src/security/replay/index.js";
import { DEFAULT_LIMITS } from "../../../src/transport/limits.js";
import { PROTOCOLS, SETTINGS } from "../world.js";
import { DoorWorld } from "./world.js";

/** Messages that are verified by themselves, with the attacks of those that arrive over HTTP. */

const world = new DoorWorld();
let ann: LocalIdentity;
let bob: LocalIdentity;
let desk: LocalIdentity;
let resolver: Resolver;
beforeAll(async () => {
  [ann, bob, desk] = [await world.register(), await world.register(), await world.register()];
  resolver = resolverFor("loopback", { protocols: PROTOCOLS, settings: SETTINGS, records: world.store.records });
});
afterAll(() => world.close());

function verifier(more: { readonly resolver?: Resolver; readonly now?: () => number } = {}) {
  const { now = Date.now } = more;
  const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now, knownSinceMs: 0 });
  return new MessageVerifier({ did: desk.did, resolver, replay, ...more });
}

const reasonOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "accepted",
    (thrown: { readonly facts?: { readonly detail?: { readonly reason?: string } } }) => thrown.facts?.detail?.reason ?? thrown,
  );
const changed = (message: Message, from: string | RegExp, to: string): Message => ({
  ...message,
  security: { ...message.security, mode: "sage", signature: message.security?.signature?.replace(from, to) },
});

describe("verifyMessage", () => {
  test("returns the author, once, also of the JSON form", async () => {
    const signed = await signMessage(newMessage("hello", { contextId: "c" }), desk.did, ann);
    const json: unknown = JSON.parse(JSON.stringify(writeMessage(signed)));
    expect(json).toMatchObject({ role: "user", context_id: "c", security: { mode: "sage", did: ann.did } });
    const checking = verifier();
    expect(await checking.verifyMessage(readMessage(json))).toBe(ann.did);
    await expect(checking.verifyMessage(signed)).rejects.toMatchObject({ name: "ErrReplayAttack" });
  });

  test("looks up no DID but those of registries: others could name addresses of this machine", async () => {
    const asked: string[] = [];
    const watched: Resolver = {
      ...resolver,
      resolve: (did) => Promise.reject(new Error(String(asked.push(did)))),
      forget: () => undefined,
    };
    for (const did of ["key", "did:web:localhost%3A8080"]) {
      const own = createIdentity({ name: "own", did });
      const signed = await signMessage(newMessage("hello"), desk.did, own);
      expect(await reasonOf(verifier({ resolver: watched }).verifyMessage(signed))).toBe("id.unknown-kind");
    }
    expect(asked).toEqual([]);
  });

  test.each<readonly [string, (message: Message) => Message, string]>([
    // Attack 1.
    ["without its member security", ({ security: _, ...message }) => message, "sig.missing"],
    [
      "whose mode says that it is not signed",
      (message) => ({ ...message, security: { ...message.security, mode: "none" } }),
      "sig.missing",
    ],
    ["of an unknown mode", (message) => ({ ...message, security: { ...message.security, mode: "x" as never } }), "sig.missing"],
    ["without its signature", (message) => ({ ...message, security: { mode: "sage", did: ann.did } }), "sig.missing"],
    // Attack 3.
    ["of another algorithm", (message) => changed(message, 'algorithm="ed25519"', 'algorithm="none"'), "sig.alg-mismatch"],
    ["by HMAC", (message) => changed(message, 'algorithm="ed25519"', 'algorithm="hmac-sha256"'), "sig.alg-mismatch"],
    // Attack 5.
    ["with other text", (message) => ({ ...message, parts: newMessage("hullo").parts }), "sig.bad"],
    ["with another id", (message) => ({ ...message, messageId: "other" }), "sig.bad"],
    ["of another role", (message) => ({ ...message, role: "agent" }), "sig.bad"],
    // Attack 6.
    ["for another agent", (message) => ({ ...message, recipientDid: bob.did }), "sig.binding"],
    // Attack 7.
    ["without a nonce", (message) => changed(message, /, nonce="[^"]*"/, ""), "sig.malformed"],
    ["without an end", (message) => changed(message, /, expires=\d+/, ""), "sig.malformed"],
    ["that is valid for too long", (message) => changed(message, /expires=\d+/, `expires=${4_102_444_800}`), "sig.stale"],
    [
      "of the future",
      (message) => changed(changed(message, /created=\d+/, "created=4102444800"), /expires=\d+/, "expires=4102444900"),
      "sig.stale",
    ],
    ["with a text that is no signature", (message) => changed(message, /^/, "?"), "sig.malformed"],
    // Attack 8.
    [
      "by a key of another DID",
      (message) => ({ ...message, security: { ...message.security, mode: "sage", did: bob.did } }),
      "sig.binding",
    ],
    [
      "that names another key",
      (message) => ({ ...message, security: { ...message.security, mode: "sage", keyId: `${ann.did}#x` } }),
      "sig.binding",
    ],
    // Attack 18.
    [
      "with the signature of a mock",
      (message) => changed(message, /signature="[^"]*"/, 'signature="bW9jay1zaWduYXR1cmUt"'),
      "sig.bad",
    ],
  ])("refuses one %s", async (_, change, reason) => {
    const signed = await signMessage(newMessage("hello"), desk.did, ann);
    expect(await reasonOf(verifier().verifyMessage(change(signed)))).toBe(reason);
    const [result] = await verifier().verifyBatch([change(signed)]);
    expect(await reasonOf(result?.ok === false ? Promise.reject(result.error) : Promise.resolve())).toBe(reason);
  });

  // Attack 16.
  test("refuses one by a key that was revoked since, and one of a DID that is in no registry", async () => {
    const carl = await world.register();
    const signed = await signMessage(newMessage("hello"), desk.did, carl);
    const name = signed.security?.keyId?.slice(carl.did.length + 1) ?? "";
    await world.submit(carl, { kind: "revoke", name });
    expect(await reasonOf(verifier().verifyMessage(signed))).toBe("key.not-in-record");
    const stranger = await createSageIdentity("stranger", "local", "sage");
    const unknown = await signMessage(newMessage("hello"), desk.did, stranger);
    await expect(verifier().verifyMessage(unknown)).rejects.toMatchObject({ name: "ErrDIDNotResolved" });
    const results = await verifier().verifyBatch([signed, unknown]);
    expect(results.map((each) => (each.ok ? each.did : each.error.name))).toEqual(["ErrInvalidSignature", "ErrDIDNotResolved"]);
  });

  test("refuses one that was signed for another agent, and one that is too old", async () => {
    const { recipientDid: _, ...signed } = await signMessage(newMessage("hello"), bob.did, ann);
    expect(await reasonOf(verifier().verifyMessage(signed))).toBe("sig.bad");
    const own = await signMessage(newMessage("hello"), desk.did, ann);
    expect(await reasonOf(verifier({ now: () => Date.now() + 600_000 }).verifyMessage(own))).toBe("sig.stale");
  });

  // Attack 2.
  test("refuses all while the registry does not answer", async () => {
    const broken: Resolver = { resolve: () => Promise.reject(new Error("no answer")), forget: () => undefined };
    const signed = await signMessage(newMessage("hello"), desk.did, ann);
    await expect(verifier({ resolver: broken }).verifyMessage(signed)).rejects.toMatchObject({ name: "ErrDIDNotResolved" });
  });
});

describe("verifyBatch", () => {
  test.each([4, 255, 256, 600])(
    "of %d: one result for each, each DID resolved once, the first of two equal nonces",
    async (size) => {
      const asked: string[] = [];
      const counting: Resolver = {
        resolve: (did, cancel) => {
          asked.push(did);
          return resolver.resolve(did, cancel);
        },
        forget: () => undefined,
      };
      const messages = await Promise.all(
        Array.from({ length: size }, (_, index) => signMessage(newMessage(`m ${index}`), desk.did, index % 2 === 0 ? ann : bob)),
      );
      const [first, second] = messages as [Message, Message];
      const batch = [...messages, { ...second, parts: newMessage("changed").parts }, first, newMessage("plain")];
      const results = await verifier({ resolver: counting }).verifyBatch(batch);
      expect(results.map((each) => (each.ok ? each.did : each.error.name))).toEqual([
        ...messages.map((_, index) => (index % 2 === 0 ? ann.did : bob.did)),
        "ErrInvalidSignature",
        "ErrReplayAttack",
        "ErrInvalidSignature",
      ]);
      expect(asked.toSorted()).toEqual([ann.did, bob.did].toSorted());
    },
  );

  test("takes what was accepted before into account, and is limited", async () => {
    const signed = await signMessage(newMessage("hello"), desk.did, ann);
    const checking = verifier();
    await checking.verifyMessage(signed);
    expect(await checking.verifyBatch([signed])).toMatchObject([{ ok: false, error: { name: "ErrReplayAttack" } }]);
    expect(await checking.verifyBatch([])).toEqual([]);
    await expect(checking.verifyBatch(Array.from({ length: 10_001 }, () => signed))).rejects.toThrow("at most");
  });

  test("a key that is revoked counts from the next batch on", async () => {
    const carl = await world.register();
    const signed = () => signMessage(newMessage("hello"), desk.did, carl);
    const checking = verifier();
    expect(await checking.verifyBatch([await signed()])).toMatchObject([{ ok: true }]);
    const late = await signed();
    await world.submit(carl, { kind: "deactivate" });
    resolver.forget(carl.did);
    expect(await checking.verifyBatch([late])).toMatchObject([{ ok: false }]);
    await expect(resolver.resolve(carl.did, new CancelSource())).resolves.toMatchObject({ document: { deactivated: true } });
  });
});
