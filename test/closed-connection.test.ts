import { afterEach, describe, expect, test } from "vitest";
import { agent, connect, DiscoveryCache, type EventOf, type RemoteAgent, serve } from "../src/index.js";
import { BreakingProxy } from "./helpers/breaking-proxy.js";

/** A peer that closes a kept-alive connection in the moment of a send: what is safe to repeat is sent again, everything else never is. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Setup {
  readonly peer: RemoteAgent;
  readonly proxy: BreakingProxy;
  /** What the agent worked on. */
  readonly worked: readonly string[];
}

async function opened(pin: string): Promise<Setup> {
  const worked: string[] = [];
  const echo = agent({
    name: "echo",
    description: "d",
    async *handle({ text }, task) {
      worked.push(text);
      yield task.working();
      return text;
    },
  });
  let url = "";
  const proxy = await BreakingProxy.open(() => url);
  closing.push(() => proxy.close());
  const server = await serve(echo, { publicUrl: proxy.url });
  closing.push(() => server.close());
  url = `http://127.0.0.1:${server.port}`;
  const peer = await connect(proxy.url, { pin, discoveryCache: new DiscoveryCache() });
  closing.push(() => peer.close());
  return { peer, proxy, worked };
}

async function all(stream: AsyncIterable<EventOf<"send">>): Promise<readonly EventOf<"send">[]> {
  const events: EventOf<"send">[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const taskIn = (event: EventOf<"send">): string => {
  if (event.kind !== "task") throw new Error("the agent makes a task of everything");
  return event.task.id;
};

describe.each(["a2a@1.0/JSONRPC", "acp@0.2/REST"])("over %s", (pin) => {
  test.each([false, true])("reads and messages with a key are sent again; reached the server: %s", async (passesBroken) => {
    const { peer, proxy, worked } = await opened(pin);
    proxy.passesBroken = passesBroken;
    const id = taskIn(await peer.send("first"));
    const calls = [
      async () => expect((await peer.getTask(id)).status.state).toBe("completed"),
      async () => expect(await peer.ask("asked", { key: "k-1" })).toBe("asked"),
      async () => expect((await all(peer.stream("streamed", { key: "k-2" }))).at(-1)).toMatchObject({ kind: expect.any(String) }),
    ];
    for (const [index, call] of calls.entries()) {
      proxy.breaks = 1;
      await call();
      expect(proxy.broken).toBe(index + 1);
    }
    expect(worked).toEqual(["first", "asked", "streamed"]);
  });

  test("once: a peer that closes every connection is unavailable", async () => {
    const { peer, proxy } = await opened(pin);
    proxy.breaks = 100;
    await expect(peer.ask("x", { key: "k" })).rejects.toMatchObject({ code: "unavailable", facts: { sent: "maybe" } });
    expect(proxy.broken).toBe(2);
  });

  test("a message without a key is not sent twice", async () => {
    const { peer, proxy, worked } = await opened(pin);
    proxy.passesBroken = true;
    proxy.breaks = 1;
    await expect(peer.ask("x")).rejects.toMatchObject({ code: "unavailable", facts: { sent: "maybe" } });
    expect([proxy.broken, worked]).toEqual([1, ["x"]]);
  });
});
