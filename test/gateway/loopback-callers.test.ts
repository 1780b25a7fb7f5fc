import { afterEach, describe, expect, it } from "vitest";
import { configFrom, type Gateway, openGateway } from "../../apps/gateway/index.js";
import { parseConfig } from "../../apps/gateway/read-config.js";
import { agent, connect, DiscoveryCache, type Server, serve } from "../../src/index.js";
import { bearerTokens } from "../../src/public/auth.js";

/** `auth.loopback`: callers on this machine are known without credentials, and may read an extended card. */

const OWN = "the-gateways-own-token-01234";
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
function opened<T extends { close(): unknown }>(made: T): T {
  open.push(made);
  return made;
}

async function upstream(): Promise<Server> {
  const extending = agent({
    name: "clerk",
    description: "for anyone",
    handle: (_message, task) => `called by ${task.caller}`,
    extendedCard: () => ({ description: "for those who are known" }),
  });
  return opened(await serve(extending, { port: 0, admission: bearerTokens(new Map([["gateway", OWN]])) }));
}

async function gatewayFor(url: string, mode: string, auth: object): Promise<Gateway> {
  const agents = [{ name: "clerk", upstream: url, mode, credentials: { bearer: { env: "OWN" } } }];
  return opened(await openGateway(configFrom({ listen: { port: 0 }, auth, agents }, { folder: "/nowhere", env: { OWN } })));
}

describe.each(["adopt", "relay"])("auth.loopback, with mode %s", (mode) => {
  it("shows callers on this machine the extended card", async () => {
    const gateway = await gatewayFor((await upstream()).url, mode, { loopback: "kit" });
    const peer = opened(await connect(gateway.url, { discoveryCache: new DiscoveryCache() }));
    expect((await peer.extendedCard()).description).toBe("for those who are known");
    expect(await peer.ask("who?")).toBe("called by gateway");
  });

  it("without it, they are refused", async () => {
    const gateway = await gatewayFor((await upstream()).url, mode, {});
    const peer = opened(await connect(gateway.url, { discoveryCache: new DiscoveryCache() }));
    await expect(peer.extendedCard()).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("a request that a proxy forwarded is not from this machine", async () => {
    const gateway = await gatewayFor((await upstream()).url, mode, { loopback: "kit" });
    const response = await fetch(`${gateway.url}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": "203.0.113.7" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetExtendedAgentCard", params: {} }),
    });
    expect(response.status).toBe(401);
  });
});

it.each([
  ["host", "{ host: 0.0.0.0 }"],
  ["publicUrl", "{ publicUrl: 'https://agent.example' }"],
  ["trustedProxies", "{ trustedProxies: { addresses: [10.0.0.1] } }"],
])("is refused with listen.%s", async (member, listen) => {
  const text = `listen: ${listen}\nauth: { loopback: kit, tokens: { env: OWN } }\nagents: [{ name: a, upstream: "http://127.0.0.1:1" }]`;
  const read = parseConfig(text, { name: "koine.yaml", folder: "/nowhere", env: { OWN: `a=${OWN}` } });
  await expect(read).rejects.toMatchObject({
    problems: [{ message: expect.stringContaining(`listen.${member} lets others in`) }],
  });
});
