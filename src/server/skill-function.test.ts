import { afterEach, describe, expect, test } from "vitest";
import { agent, connect, DiscoveryCache, type Server, serve } from "../index.js";

let server: Server | undefined;
afterEach(() => server?.close());

const clerk = agent({
  name: "clerk",
  description: "answers by skill",
  skills: [
    {
      id: "sum",
      name: "Sum",
      description: "adds",
      tags: ["t"],
      document: "add the numbers\n",
      handle: (message) => `sum of ${message.text}`,
    },
    { id: "talk", name: "Talk", description: "talks", tags: ["t"] },
  ],
  handle: (message) => `talk about ${message.text}`,
});

describe("a skill with its own function", () => {
  test("handles only the messages that name it", async () => {
    server = await serve(clerk);
    const peer = await connect(server.url, { discoveryCache: new DiscoveryCache() });
    expect(await peer.ask("1 2", { intent: "sum" })).toBe("sum of 1 2");
    expect(await peer.ask("1 2", { intent: "talk" })).toBe("talk about 1 2");
    expect(await peer.ask("1 2", { intent: "constructor" })).toBe("talk about 1 2");
    expect(await peer.ask("1 2")).toBe("talk about 1 2");
    await peer.close();
  });

  test("is published without its function", () => {
    expect(clerk.card.skills).toEqual([
      { id: "sum", name: "Sum", description: "adds", tags: ["t"], document: "add the numbers\n" },
      { id: "talk", name: "Talk", description: "talks", tags: ["t"] },
    ]);
  });

  test("has a unique id", () => {
    const skill = { id: "sum", name: "Sum", description: "adds", tags: ["t"], handle: () => "" };
    expect(() => agent({ name: "a", description: "d", handle: () => "", skills: [skill, skill] })).toThrow('"sum"');
  });
});
