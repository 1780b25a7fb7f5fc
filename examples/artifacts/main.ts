/** Large parts: fifty megabytes in both directions, by links that expire. */
import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { agent, connect, createMemoryArtifacts, type Part, serve } from "koine";

const FIFTY_MB = 50_000_000;
const film = randomBytes(FIFTY_MB);
const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const artifacts = () => ({ store: createMemoryArtifacts({ now: Date.now, newId: randomUUID }) });

/** Returns the film, or the digest of what it received. */
const archive = agent({
  name: "archive",
  description: "Keeps films",
  async handle(message, task) {
    const [part] = message.content;
    if (part?.kind !== "url") return [{ kind: "raw", bytes: film, name: "film.mp4", mediaType: "video/mp4" }];
    const given = await task.fetch(part);
    assert(given.kind === "raw");
    return digestOf(given.bytes);
  },
});
const archiveServer = await serve(archive, { artifacts: artifacts() });

/** Sends the film to the archive. An agent must be served itself to offer large parts to others. */
const courier = agent({
  name: "courier",
  description: "Carries films",
  peers: { archive: archiveServer.url },
  handle: () => courier.ask("archive", [{ kind: "raw", bytes: film, name: "film.mp4", mediaType: "video/mp4" }]),
});
const courierServer = await serve(courier, { artifacts: artifacts() });

const peer = await connect(archiveServer.url);
const carrier = await connect(courierServer.url);
try {
  // From the agent to the caller: the answer holds a link; `fetch` downloads it and checks size and digest.
  const answer = await peer.send("the film, please");
  assert(answer.kind === "message");
  const [part] = answer.message.content as readonly [Part];
  assert.equal(part.kind, "url");
  const fetched = await peer.fetch(part);
  assert(fetched.kind === "raw");
  assert.equal(fetched.bytes.length, FIFTY_MB);
  assert.equal(digestOf(fetched.bytes), digestOf(film));
  console.log(`received ${fetched.name}, ${fetched.bytes.length} bytes, by link`);

  // From one agent to another.
  assert.equal(await carrier.ask("bring it back"), digestOf(film));
  console.log("sent back to the archive by another link");
} finally {
  await Promise.all([peer.close(), carrier.close(), courier.closePeers()]);
  await Promise.all([archiveServer.close(), courierServer.close()]);
}
