import { createHash, randomBytes, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { agent, bridge, connect, createMemoryArtifacts, DiscoveryCache, type Part, serve } from "../../src/index.js";

/** References through a gateway: those of callers are passed on, those of the upstream are copied into the gateway's store. */

const artifacts = () => ({ artifacts: { store: createMemoryArtifacts({ now: Date.now, newId: () => randomUUID() }) } });
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

test("a caller's upload reaches the upstream, and its large answer is served by the gateway", async () => {
  const large = new Uint8Array(randomBytes(3_000_000));
  const depot = agent({
    name: "depot",
    description: "Gives, and says what it was given",
    async handle({ text, content }, task): Promise<string | readonly Part[]> {
      if (text === "give") return [{ kind: "raw", bytes: large }];
      const hash = createHash("sha256");
      for (const part of content) if (part.kind === "url") for await (const chunk of task.read(part)) hash.update(chunk);
      return hash.digest("hex");
    },
  });
  const upstream = await serve(depot, artifacts());
  const bridged = await bridge(upstream.url, { discoveryCache: new DiscoveryCache(), bridge: { name: "depot" } });
  const gateway = await serve(bridged, { ...artifacts(), limits: { drainMs: 0 } });
  const caller = await connect(gateway.url, { discoveryCache: new DiscoveryCache() });
  const read = async ({ start, end }: { readonly start: number; readonly end: number }) => large.subarray(start, end);
  const part = await caller.upload({ bytes: large.length, sha256: sha256(large), read });
  expect(part.kind === "url" && part.url.startsWith(`${gateway.url}/artifacts/`)).toBe(true);
  expect(await caller.ask([part])).toBe(sha256(large));

  const event = await caller.send("give", { key: "k-1" });
  const [given] = event.kind === "task" ? event.task.artifacts.flatMap(({ parts }) => parts) : [];
  expect(given?.kind === "url" && given.url.startsWith(`${gateway.url}/artifacts/`)).toBe(true);
  await Promise.all([upstream.close(), bridged.close()]);
  // The upstream is gone.
  const fetched = given === undefined ? undefined : await caller.fetch(given);
  expect(fetched?.kind === "raw" && sha256(fetched.bytes)).toBe(sha256(large));
  await caller.close();
  await gateway.close();
});
