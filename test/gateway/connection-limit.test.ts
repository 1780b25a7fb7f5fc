import { afterEach, describe, expect, test } from "vitest";
import { configFrom, type Gateway, openGateway } from "../../apps/gateway/index.js";
import { agent, connect, DiscoveryCache, type RemoteAgent, serve } from "../../src/index.js";

/** The connections to an upstream are limited by name: more calls wait visibly, and above that they are refused. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Streams that say one word and wait to be released. */
async function holding() {
  const held: (() => void)[] = [];
  const holder = agent({
    name: "holder",
    description: "holds its streams",
    async *handle() {
      yield "begun";
      await new Promise<void>((resolve) => held.push(resolve));
    },
  });
  const server = await serve(holder, { limits: { drainMs: 1 } });
  closing.push(() => server.close());
  return { url: server.url, held };
}

async function gatewayOf(agents: readonly object[]): Promise<Gateway> {
  const document = { listen: { port: 0 }, agents, admin: {}, metrics: true, limits: { drainMs: 1 } };
  const gateway = await openGateway(configFrom(document, { folder: "/nowhere", env: {} }));
  closing.push(() => gateway.close());
  return gateway;
}

async function scraped({ admin }: Gateway, name: string): Promise<number | undefined> {
  const response = await fetch(`${admin?.url}/metrics`, { headers: { "x-koine-token": admin?.token ?? "" } });
  const line = (await response.text()).split("\n").find((each) => each.startsWith(`${name}{src_agent="gateway"`));
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
}

/** Starts a stream and reads its first word. */
function begin(remote: RemoteAgent, ended: unknown[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const read = async (): Promise<void> => {
      for await (const event of remote.stream("go")) if (event.kind === "artifact") resolve();
      ended.push("ended");
    };
    read().catch((thrown: unknown) => {
      ended.push(thrown);
      reject(thrown);
    });
  });
}

describe("connections to an upstream", () => {
  test.each(["a2a@1.0/JSONRPC", "a2a@1.0/GRPC"])("by %s: two at once, one waits and is seen, more are refused", async (pin) => {
    const { url, held } = await holding();
    const gateway = await gatewayOf([{ name: "holder", upstream: url, pin, connections: 2, connectionQueue: 1 }]);
    const caller = await connect(gateway.url, {
      pin: "a2a@1.0/JSONRPC",
      discoveryCache: new DiscoveryCache(),
    });
    closing.push(() => caller.close());
    const ended: unknown[] = [];
    await Promise.all([begin(caller, ended), begin(caller, ended)]);
    expect(await scraped(gateway, "QUEUE_DEPTH")).toBe(0);
    const third = begin(caller, ended);
    await expect.poll(() => scraped(gateway, "QUEUE_DEPTH")).toBe(1);
    expect(gateway.console.state().queues).toContainEqual(
      expect.objectContaining({ name: "holder connections", depth: 1, limit: 1 }),
    );
    await expect(begin(caller, [])).rejects.toMatchObject({ code: "overloaded" });
    expect(await scraped(gateway, "UPSTREAM_UP")).toBe(1);
    held[0]?.();
    await third;
    await expect.poll(() => scraped(gateway, "QUEUE_DEPTH")).toBe(0);
    for (const release of held) release();
    await expect.poll(() => held.length).toBe(3);
    held[2]?.();
    await expect.poll(() => ended).toEqual(["ended", "ended", "ended"]);
  });

  test("a ping does not wait behind the calls that use up all connections", async () => {
    const { url, held } = await holding();
    const remote = await connect(url, {
      pin: "a2a@1.0/JSONRPC",
      connections: 1,
      connectionQueue: 1,
      discoveryCache: new DiscoveryCache(),
    });
    closing.push(() => remote.close());
    await begin(remote, []);
    await remote.ping();
    held[0]?.();
  });
});
