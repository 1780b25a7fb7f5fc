import { afterEach, describe, expect, test } from "vitest";
import { agent, type JsonObject, type Server, serve } from "../../src/index.js";

const servers: Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function cardWith(settings: JsonObject, headers: Record<string, string> = {}) {
  const server = await serve(agent({ name: "a", description: "b", handle: () => "c" }), { settings: { a2a: settings } });
  servers.push(server);
  const response = await fetch(`${server.url}/.well-known/agent-card.json`, { headers });
  const card = (await response.json()) as {
    readonly url?: string;
    readonly supportedInterfaces?: readonly unknown[];
    readonly additionalInterfaces?: readonly { readonly transport: string; readonly url: string }[];
  };
  return { card, headers: response.headers, url: server.url };
}

describe("the card for a request without a version", () => {
  test.each([
    [{}, true, true],
    [{ cardForm: "both" }, true, true],
    [{ cardForm: "1.0" }, true, false],
    [{ cardForm: "0.3" }, false, true],
  ])("with %j", async (settings, modern, legacy) => {
    const { card } = await cardWith(settings);
    expect(["supportedInterfaces" in card, "url" in card]).toEqual([modern, legacy]);
  });

  test("a request that names a version gets that version", async () => {
    const { card } = await cardWith({ cardForm: "1.0" }, { "A2A-Version": "0.3" });
    expect(["supportedInterfaces" in card, "url" in card]).toEqual([false, true]);
  });

  test("an unknown form is refused at start", async () => {
    await expect(cardWith({ cardForm: "2.0" })).rejects.toMatchObject({
      message: "a2a.cardForm must be one of auto, both, 1.0, 0.3",
    });
  });

  test("A2A 1.0 section 8.6.1: the last modification is reported, and not in the future", async () => {
    const { headers } = await cardWith({});
    const changed = headers.get("last-modified") ?? "";
    expect(changed).toBe(new Date(changed).toUTCString());
    expect(Date.parse(changed)).toBeLessThanOrEqual(Date.now());
  });
});

describe("the address of gRPC 0.3", () => {
  const grpcOf = async (settings: JsonObject) => {
    const { card, url } = await cardWith({ cardForm: "0.3", ...settings });
    return { url, written: card.additionalInterfaces?.find(({ transport }) => transport === "GRPC")?.url };
  };

  test("is written as the SDKs dial it, or as the specification of 0.3 has it", async () => {
    const dialled = await grpcOf({});
    expect(dialled.written).toBe(new URL(dialled.url).host);
    const specified = await grpcOf({ legacyGrpcAddress: "url" });
    expect(specified.written).toBe(specified.url);
  });
});
