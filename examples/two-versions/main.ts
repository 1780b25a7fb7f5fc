/** One peer, two versions of its protocol: chosen per message by a hint, or for a part of the traffic by percentage. */
import assert from "node:assert/strict";
import { agent, connect, type Layer, serve } from "koine";

/** Tells by which wire each message came in. */
const seen: string[] = [];
const witness: Layer = (next) => (operation, call) => {
  if (operation.kind === "send") seen.push(`${call.via.protocol}@${call.via.version}`);
  return next(operation, call);
};

const echo = agent({
  name: "echo",
  description: "Says it again",
  async handle(message) {
    return message.text;
  },
});
const server = await serve(echo, { layers: [witness] });

// A seeded stand-in for chance, so that this example always ends the same way.
let step = 0;
const random = (): number => (step++ % 10) / 10;
const peer = await connect(server.url, { random });
try {
  assert.equal(await peer.ask("by hint", { hint: "a2a@0.3" }), "by hint");
  assert.equal(await peer.ask("by hint", { hint: "a2a@1.0" }), "by hint");
  assert.deepEqual(seen.splice(0), ["a2a@0.3", "a2a@1.0"]);

  // Thirty percent of the traffic still goes the old way; changed without a restart.
  peer.share({ "a2a@0.3": 30, "a2a@1.0": 70 });
  for (let call = 0; call < 20; call++) await peer.ask("by percentage");
  const old = seen.splice(0).filter((wire) => wire === "a2a@0.3").length;
  console.log(`${old} of 20 messages went by a2a@0.3`);
  assert.equal(old, 6);

  // Pinned: only this way, and what the peer does not speak is said at once.
  const pinned = await connect(server.url, { pin: "a2a@0.3" });
  assert.equal(pinned.version, "0.3");
  assert.equal(await pinned.ask("pinned"), "pinned");
  await pinned.close();
  await assert.rejects(connect(server.url, { pin: "a2a@9.9" }), { code: "unsupported" });
} finally {
  await peer.close();
  await server.close();
}
