import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentError, agent, connect, DiscoveryCache, type Server, serve, textPart } from "../src/index.js";
import { DEFAULT_LIMITS } from "../src/transport/limits.js";

/** `ConnectOptions.limits` hold for what a peer answers. Answers of other protocols are artifacts or a single text. */

let server: Server;
beforeAll(async () => {
  const many = agent({
    name: "many",
    description: "",
    handle: () => [textPart("a"), { kind: "data" as const, data: { b: 1 } }, textPart("c")],
  });
  server = await serve(many, { port: 0 });
});
afterAll(() => server.close());

const PINS = ["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@1.0/GRPC", "a2a@0.3/JSONRPC"];

describe.each(PINS)("%s", (pin) => {
  test.each([
    [3, "answered"],
    [2, "refused"],
  ])("an answer of three parts with partsPerMessage %i is %s", async (partsPerMessage, outcome) => {
    const limits = { ...DEFAULT_LIMITS, partsPerMessage };
    const peer = await connect(server.url, { pin, limits, discoveryCache: new DiscoveryCache() });
    const got = await peer.send("hi").then(
      () => "answered",
      ({ message }: Error) => (/parts/.test(message) ? "refused" : message),
    );
    await peer.close();
    expect(got).toBe(outcome);
  });
});

/** Discovery uses the default limits; its documents are larger than the answers. */
test.each(["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@0.3/JSONRPC", "a2a@1.0/GRPC", "acp", "agora"])(
  "an answer with more JSON values than jsonValues is refused: %s",
  async (pin) => {
    const discoveryCache = new DiscoveryCache();
    const first = await connect(server.url, { pin, discoveryCache });
    await first.close();
    const peer = await connect(server.url, { pin, discoveryCache, limits: { ...DEFAULT_LIMITS, jsonValues: 2 } });
    const refusal = peer.send("hi").then(
      () => "answered",
      ({ code, message }: AgentError) => `${code}: ${message}`,
    );
    expect(await refusal).toMatch(/^bad_peer: .*more than (2 JSON values|4 fields)/);
    await peer.close();
  },
);

test.each(["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@0.3/JSONRPC", "acp", "agora"])(
  "an answer longer than jsonBytes is refused: %s",
  async (pin) => {
    const discoveryCache = new DiscoveryCache();
    const first = await connect(server.url, { pin, discoveryCache });
    await first.close();
    const peer = await connect(server.url, { pin, discoveryCache, limits: { ...DEFAULT_LIMITS, jsonBytes: 20 } });
    const refusal = peer.send("hi").then(
      () => "answered",
      ({ code, message }: AgentError) => `${code}: ${message}`,
    );
    expect(await refusal).toMatch(/^bad_peer: .*longer than 20 bytes \(limit jsonBytes\)/);
    await peer.close();
  },
);
