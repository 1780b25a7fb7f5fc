import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractRequirements } from "../conformance/index.js";
import { systemIds } from "../src/envelope/index.js";
import { agent, connect, DiscoveryCache, type Server, serve } from "../src/index.js";
import { memoryLink, protocols, relay } from "../src/public/protocols.js";
import { openProtocols } from "./helpers/open-protocols.js";
import { toy } from "./toy/index.js";

/** What the registry would hold after the one line. */
const registry = [...protocols, toy];

const echo = agent({
  name: "echo",
  description: "says it again",
  async handle(message) {
    return `again: ${message.text}`;
  },
});

describe("a protocol added by one folder and one line", () => {
  let server: Server;
  beforeAll(async () => {
    server = await serve(echo, { protocols: registry });
  });
  afterAll(() => server.close());

  test("is served beside the others on the same port", async () => {
    const response = await fetch(`${server.url}/toy`, { method: "POST", body: '{"say":"hello"}' });
    expect(await response.json()).toEqual({ said: "again: hello" });
  });

  test("refuses bad input in its own form and names the field", async () => {
    const response = await fetch(`${server.url}/toy`, { method: "POST", body: '{"say":7}' });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ wrong: "invalid_message", why: "say must be a string, not a number" });
  });

  test("is discovered, with evidence, and called", async () => {
    const peer = await connect(server.url, { protocols: [toy] });
    expect([peer.protocol, peer.version, peer.verified]).toEqual(["toy", "1", true]);
    expect(peer.evidence).toEqual([`a toy document at ${server.url}/toy`]);
    expect(await peer.ask("hello")).toBe("again: hello");
    expect(await peer.health()).toBe(true);
    await peer.close();
  });

  test("is one of several interfaces of the same agent, chosen by hint", async () => {
    const peer = await connect(server.url, { protocols: registry, discoveryCache: new DiscoveryCache() });
    expect(await peer.ask("by toy", { hint: "toy@1" })).toBe("again: by toy");
    expect(await peer.ask("by the card", {})).toBe("again: by the card");
    await expect(peer.ask("by none", { hint: "toy@2" })).rejects.toMatchObject({ code: "unsupported_version" });
    await peer.close();
  });

  for (const other of openProtocols) {
    test(`is bridged to ${other.id} and back in memory`, async () => {
      const upstream = await connect(server.url, { protocols: [other] });
      const before = relay({
        upstream: upstream.handler,
        card: upstream.card,
        protocols: [toy],
        ids: systemIds,
        publicUrl: "http://gateway",
      });
      const throughToy = await connect("http://gateway", {
        protocols: [toy],
        link: memoryLink(before.exchange),
        discoveryCache: new DiscoveryCache(),
      });
      expect(await throughToy.ask("across")).toBe("again: across");

      const relayed = relay({
        upstream: throughToy.handler,
        card: upstream.card,
        protocols: [other],
        ids: systemIds,
        publicUrl: "http://gateway",
      });
      const back = await connect("http://gateway", {
        protocols: [other],
        link: memoryLink(relayed.exchange),
        discoveryCache: new DiscoveryCache(),
      });
      expect(await back.ask("and back")).toBe("again: and back");
      await upstream.close();
    });
  }

  test("reports once that the peer starts no messages, and remembers it", async () => {
    const peer = await connect(server.url, { protocols: [toy] });
    const first = peer.receive()[Symbol.asyncIterator]().next();
    await expect(first).rejects.toMatchObject({ code: "unsupported", message: "toy has no messages initiated by the peer" });
    const reason = await first.catch((thrown: unknown) => thrown);
    await expect(peer.receive()[Symbol.asyncIterator]().next()).rejects.toBe(reason);
    await peer.close();
  });

  test("cannot list tasks, and reports it before anything is sent", async () => {
    const peer = await connect(server.url, { protocols: [toy] });
    await expect(peer.listTasks()).rejects.toMatchObject({ code: "unsupported_method", facts: { sent: "no" } });
    await peer.close();
  });
});

describe("the life of every peer", () => {
  for (const protocol of [...openProtocols, toy]) {
    test(`${protocol.id}: initialize, health, receive, close`, async () => {
      const server = await serve(echo, { protocols: registry });
      const peer = await connect(server.url, { protocols: [protocol], discoveryCache: new DiscoveryCache() });
      await peer.initialize();
      expect([peer.protocol, peer.verified, await peer.health()]).toEqual([protocol.id, true, true]);
      await expect(peer.receive()[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "unsupported" });
      const answer = peer.ask("under way");
      await peer.close();
      expect(await answer).toBe("again: under way");
      await expect(peer.ask("too late")).rejects.toMatchObject({ code: "unavailable", facts: { sent: "no" } });
      await server.close();
      expect(await peer.health()).toBe(false);
    });
  }
});

describe("the contract of every protocol", () => {
  for (const protocol of [...openProtocols, toy]) {
    for (const requirement of contractRequirements) {
      test(`${protocol.id}: ${requirement.id}`, async () => {
        await requirement.check(protocol);
      });
    }
  }
  test("was really checked", () => {
    expect(contractRequirements.length).toBeGreaterThan(5);
  });
});
