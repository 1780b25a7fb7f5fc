import { createServer } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import {
  AgentError,
  agent,
  type Bridge,
  bridge,
  connect,
  DiscoveryCache,
  isTerminal,
  type Server,
  serve,
} from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { interfacesOf } from "./pairs/interfaces.js";

/** Gateways that form a loop, and gateways that cannot start. */

const interfaces = (await interfacesOf(protocols)).map(({ pin }) => pin);
const HOPS = 4;
const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function served(agents: Parameters<typeof serve>[0], options: Parameters<typeof serve>[1] = {}): Promise<Server> {
  const server = await serve(agents, { limits: { hops: HOPS, drainMs: 0 }, ...options });
  opened.push(server);
  return server;
}

async function bridged(url: string, pin?: string): Promise<Bridge> {
  const made = await bridge(url, {
    ...(pin === undefined ? {} : { pin }),
    discoveryCache: new DiscoveryCache(),
    bridge: { name: "round" },
  });
  opened.push(made);
  return made;
}

const placeholder = agent({ name: "round", description: "stands in until the circle is closed", handle: () => "not asked" });

describe("two gateways that form a loop", () => {
  test.each(interfaces)("%s: a message is refused after the hop limit, and nothing keeps running", async (pin) => {
    const a = await served(placeholder);
    const b = await served(await bridged(a.url, pin));
    a.replace(await bridged(b.url, pin), { limits: { hops: HOPS } });
    for (const first of interfaces) {
      const caller = await connect(a.url, { pin: first, discoveryCache: new DiscoveryCache() });
      opened.push(caller);
      const ended = await caller.ask("round and round").then(
        (answer) => new AgentError("internal", answer),
        (thrown: unknown) => AgentError.from(thrown),
      );
      expect([first, ended.code, ended.message]).toEqual([
        first,
        "loop",
        expect.stringMatching(/has passed 5 gateways; at most 4/),
      ]);
    }
    for (const { url } of [a, b]) {
      const caller = await connect(url, { pin: "a2a@1.0/JSONRPC", discoveryCache: new DiscoveryCache() });
      opened.push(caller);
      const running = async () => (await caller.listTasks()).tasks.filter(({ status }) => !isTerminal(status.state));
      await expect.poll(running).toEqual([]);
    }
  });
});

describe("a gateway that cannot start", () => {
  test("reports that it would call itself", async () => {
    const before = await serve(placeholder);
    const self = await bridged(before.url);
    await before.close();
    for (const host of ["127.0.0.1", "localhost"])
      await expect(serve(self, { port: before.port, host })).rejects.toMatchObject({ code: "loop" });
    // Nothing stays open.
    await (await serve(placeholder, { port: before.port })).close();
  });

  test("reports that its port is in use, and leaves nothing open", async () => {
    const upstream = await served(placeholder);
    const self = await bridged(upstream.url);
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    opened.push({ close: () => other.close() });
    const address = other.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    await expect(serve(self, { port })).rejects.toThrow(new RegExp(`${port}`));
    const gateway = await served(self);
    const caller = await connect(gateway.url, { discoveryCache: new DiscoveryCache() });
    opened.push(caller);
    expect(await caller.ask("hello")).toBe("not asked");
  });
});
