import { afterEach, describe, expect, test } from "vitest";
import { agent, bridge, connect, DiscoveryCache, type RemoteAgent, serve } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";

/** Upstreams that open a conversation for a session and limit how many are open. */

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
function opened<T extends { close(): unknown }>(made: T): T {
  open.push(made);
  return made;
}

const AGORA = protocols.filter(({ id }) => id === "agora");
const A2A = protocols.filter(({ id }) => id === "a2a");

/** An agent that counts the messages of a session, and the client of a gateway in front of it. */
async function throughGateway(): Promise<RemoteAgent> {
  const counts = new Map<string, number>();
  const counter = agent({
    name: "counter",
    description: "counts the messages of a session",
    handle(_message, { sessionId }) {
      const count = (counts.get(sessionId) ?? 0) + 1;
      counts.set(sessionId, count);
      return String(count);
    },
  });
  const upstream = opened(await serve(counter, { protocols: AGORA }));
  const bridged = await bridge(upstream.url, { discoveryCache: new DiscoveryCache() });
  const gateway = opened(await serve(bridged, { protocols: A2A }));
  return opened(await connect(gateway.url, { discoveryCache: new DiscoveryCache() }));
}

describe("an adopting gateway before an agent that limits its conversations", () => {
  test("ends the conversations of messages that nobody continued", async () => {
    const caller = await throughGateway();
    for (let sent = 0; sent < 150; sent++) expect(await caller.ask("hello")).toBe("1");
  });

  test("keeps the conversation of a session that the gateway named", async () => {
    const caller = await throughGateway();
    const answer = await caller.send("hello");
    const session = answer.kind === "task" ? answer.task.contextId : "";
    expect(await caller.ask("hello", { session })).toBe("2");
  });

  test("keeps the conversation of a session", async () => {
    const caller = await throughGateway();
    const session = { session: "s-1" };
    expect(await caller.ask("hello", session)).toBe("1");
    expect(await caller.ask("hello", session)).toBe("2");
  });

  test("a client that is closed ends its conversations, so that the next one has room", async () => {
    const echo = agent({ name: "echo", description: "repeats", handle: ({ text }) => text });
    const upstream = opened(await serve(echo, { protocols: AGORA }));
    for (let round = 0; round < 3; round++) {
      const caller = await connect(upstream.url, { discoveryCache: new DiscoveryCache() });
      for (let sent = 0; sent < 60; sent++) expect(await caller.ask("hello", { session: `s-${round}-${sent}` })).toBe("hello");
      await caller.close();
    }
  });

  test("ends the conversations of sessions that are not used any more", async () => {
    const caller = await throughGateway();
    for (let sent = 0; sent < 150; sent++) expect(await caller.ask("hello", { session: `s-${sent}` })).toBe("1");
  });
});
