/** Signed cards: a change in transit, or an unknown signer, is detected. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentError, agent, connect, serve } from "koine";
import { bearerTokens, cardSigner, newCardKey } from "koine/auth";

const TOKEN = "a-token-for-ann-0123456789";
const acme = newCardKey("EdDSA", "acme");
const unknown = newCardKey("EdDSA", "unknown");

const clerk = agent({
  name: "clerk",
  description: "Files things",
  // The extended card, computed per authenticated caller.
  extendedCard: ({ id }) => (id === "ann" ? { description: "Files secret things too" } : undefined),
  handle: () => "filed",
});
const server = await serve(clerk, {
  cardKeys: [cardSigner({ key: JSON.stringify(acme.privateJwk) })],
  admission: bearerTokens(new Map([["ann", TOKEN]])),
});

// A proxy that changes one word of the card.
const forger = createServer((request, response) => {
  void fetch(`${server.url}${request.url}`)
    .then((answer) => answer.text())
    .then((text) => response.setHeader("content-type", "application/json").end(text.replace("Files things", "Eats things")));
}).listen(0, "127.0.0.1");
await once(forger, "listening");
const forgerUrl = `http://127.0.0.1:${(forger.address() as AddressInfo).port}`;

const trust = { keys: [{ name: "acme", key: acme.publicJwk }], require: true };
const credentials = { bearer: TOKEN };
function refusedWith(code: string): (thrown: unknown) => boolean {
  return (thrown) => {
    assert(thrown instanceof AgentError);
    console.log(`refused: ${thrown.message}`);
    return thrown.code === code;
  };
}

const peer = await connect(server.url, { trust, credentials });
try {
  assert.equal(peer.cardTrust, "verified");
  assert.equal(peer.card.original?.verifiedBy, "acme");
  assert.equal(await peer.ask("this"), "filed");
  assert.equal((await peer.extendedCard()).description, "Files secret things too");
  console.log("the card and the extended card are signed by acme");

  await assert.rejects(connect(forgerUrl, { trust, credentials }), refusedWith("bad_signature"));
  const others = { keys: [{ name: "unknown", key: unknown.publicJwk }], require: true };
  await assert.rejects(connect(server.url, { trust: others, credentials }), refusedWith("downgrade_refused"));
} finally {
  await peer.close();
  await server.close();
  forger.close();
}
