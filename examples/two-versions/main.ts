/** One peer, two versions of its protocol: chosen per message by a hint, or for a share of the traffic. */
import assert from "node:assert/strict";
import { agent, connect, type Layer, serve } from "koine";

/** Records the interface of each message. */
const used: string[] = [];
const record: Layer = (next) => (operation, call) => {
  if (operation.kind === "send") used.push(`${call.via.protocol}@${call.via.version}`);
  return next(operation, call);
};

const echo = agent({
  name: "echo",
  description: "Repeats what it is sent",
  async handle(message) {
    return message.text;
  },
});
const server = await serve(echo, { layers: [record] });

// A deterministic random source, so that this example always gives the same result.
let step = 0;
const random = (): number => (step++ % 10) / 10;
const peer = await connect(server.url, { random });
try {
  assert.equal(await peer.ask("by hint", { hint: "a2a@0.3" }), "by hint");
  assert.equal(await peer.ask("by hint", { hint: "a2a@1.0" }), "by hint");
  assert.deepEqual(used.splice(0), ["a2a@0.3", "a2a@1.0"]);

  // Thirty percent of the traffic uses the old version; changed without a restart.
  peer.share({ "a2a@0.3": 30, "a2a@1.0": 70 });
  for (let call = 0; call < 20; call++) await peer.ask("by percentage");
  const old = used.splice(0).filter((wire) => wire === "a2a@0.3").length;
  console.log(`${old} of 20 messages used a2a@0.3`);
  assert.equal(old, 6);

  // Pinned: only this interface; one the peer does not speak is an error.
  const pinned = await connect(server.url, { pin: "a2a@0.3" });
  assert.equal(pinned.version, "0.3");
  assert.equal(await pinned.ask("pinned"), "pinned");
  await pinned.close();
  await assert.rejects(connect(server.url, { pin: "a2a@9.9" }), { code: "unsupported" });
} finally {
  await peer.close();
  await server.close();
}
