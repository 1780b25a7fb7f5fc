import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { checkGateway, configFrom, type Gateway, type GatewayConfig, openGateway } from "../../apps/gateway/index.js";
import { parseConfig } from "../../apps/gateway/read-config.js";
import { agent, connect, DiscoveryCache, type Server, serve } from "../../src/index.js";
import { type Admission, bearerTokens } from "../../src/public/auth.js";

/** Which credential the agents of a configured gateway receive. */

const TOKENS = { ann: "anns-token-at-the-gateway-01", bob: "bobs-token-at-the-gateway-01" } as const;
const GATEWAY = "the-gateways-own-token-01234";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
function opened<T extends { close(): unknown }>(made: T): T {
  open.push(made);
  return made;
}

interface Watched {
  readonly server: Server;
  /** The authorization of every request. */
  readonly shown: (string | undefined)[];
}

/** Authenticates by bearer token, names its caller, and records the credentials it receives. */
async function upstreamFor(tokens: { readonly [name: string]: string }): Promise<Watched> {
  const shown: (string | undefined)[] = [];
  const admission = bearerTokens(new Map(Object.entries(tokens)));
  const watching = Object.assign((request: Parameters<Admission>[0]) => {
    shown.push(request.headers["authorization"]);
    return admission(request);
  }, admission);
  const upstreamAgent = agent({
    name: "caller-name",
    description: "says who calls",
    handle: (_message, task) => `called by ${task.caller}`,
  });
  return { server: opened(await serve(upstreamAgent, { admission: watching })), shown };
}

/** A token service that returns `for-` and the presented token, and records its requests. */
async function tokenService() {
  const asked: { readonly form: { readonly [name: string]: string }; readonly authorization: string | undefined }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const form = Object.fromEntries(new URLSearchParams(body));
    asked.push({ form, authorization: request.headers.authorization });
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        access_token: `for-${form["subject_token"] ?? ""}`,
        token_type: "Bearer",
        issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
        expires_in: 3600,
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({ close: () => new Promise((resolve) => server.close(resolve)) });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`, asked }; // it listens on a port
}

const ENV = {
  CALLERS: Object.entries(TOKENS)
    .map(([name, token]) => `${name}=${token}`)
    .join("\n"),
  OWN: GATEWAY,
  CLIENT_SECRET: "what the client knows",
};

function configOf(upstream: Watched, more: object, rest: object = {}): GatewayConfig {
  return configFrom(
    {
      listen: { port: 0 },
      auth: { tokens: { env: "CALLERS" } },
      agents: [{ name: "caller-name", upstream: upstream.server.url, ...more }],
      ...rest,
    },
    { folder: "/nowhere", env: ENV },
  );
}

const gatewayOf = async (config: GatewayConfig): Promise<Gateway> => opened(await openGateway(config));

async function askAs(who: keyof typeof TOKENS, { url }: Gateway): Promise<string> {
  const peer = opened(await connect(url, { credentials: { bearer: TOKENS[who] }, discoveryCache: new DiscoveryCache() }));
  return peer.ask("who?");
}

describe("callers: own", () => {
  it("is the default: a caller's token is never forwarded", async () => {
    const upstream = await upstreamFor({ gateway: GATEWAY, ...TOKENS });
    const gateway = await gatewayOf(configOf(upstream, { credentials: { bearer: { env: "OWN" } } }));
    expect(await Promise.all([askAs("ann", gateway), askAs("bob", gateway)])).toEqual(["called by gateway", "called by gateway"]);
    expect(new Set(upstream.shown)).toEqual(new Set([`Bearer ${GATEWAY}`]));
    expect(gateway.agents()[0]?.notes).toEqual([]);
  });

  it("fails the start if the card requires a token that the gateway does not have", async () => {
    const upstream = await upstreamFor(TOKENS);
    await expect(openGateway(configOf(upstream, {}))).rejects.toMatchObject({ code: "unauthenticated" });
    const { upstreams } = await checkGateway(configOf(upstream, {}), true);
    expect(upstreams[0]?.problem).toContain("credentials.bearer");
  });
});

describe("callers: passthrough", () => {
  it("two callers reach the agent with their own identity, and the operator is notified", async () => {
    const upstream = await upstreamFor(TOKENS);
    const gateway = await gatewayOf(configOf(upstream, { callers: "passthrough" }));
    upstream.shown.length = 0;
    expect(await Promise.all([askAs("ann", gateway), askAs("bob", gateway), askAs("ann", gateway)])).toEqual([
      "called by ann",
      "called by bob",
      "called by ann",
    ]);
    expect(new Set(upstream.shown)).toEqual(new Set([`Bearer ${TOKENS.ann}`, `Bearer ${TOKENS.bob}`]));
    const [status] = gateway.agents();
    expect(status?.health).toBe("up");
    expect(status?.notes.join("\n")).toContain("same trust domain");
  });

  it("applies to every agent when set in defaults, with several upstreams too", async () => {
    const [one, two] = [await upstreamFor(TOKENS), await upstreamFor(TOKENS)];
    const upstreams = [one, two].map(({ server }, index) => ({ id: `u${index}`, url: server.url }));
    const config = configOf(one, { upstream: undefined, upstreams }, { defaults: { callers: "passthrough" } });
    const gateway = await gatewayOf(config);
    expect(await askAs("bob", gateway)).toBe("called by bob");
    const notes = gateway.agents()[0]?.notes.join("\n");
    for (const { server } of [one, two]) expect(notes).toContain(new URL(server.url).host);
    const { upstreams: checked } = await checkGateway(config, true);
    expect(checked.map(({ problem }) => problem)).toEqual([undefined, undefined]);
  });

  it("is applied, and reverted, by a reload", async () => {
    const upstream = await upstreamFor({ gateway: GATEWAY, ...TOKENS });
    const credentials = { bearer: { env: "OWN" } };
    const gateway = await gatewayOf(configOf(upstream, { credentials }));
    expect(await askAs("ann", gateway)).toBe("called by gateway");
    const passing = configOf(upstream, { credentials, callers: "passthrough" });
    expect(await gateway.reload(passing)).toMatchObject({ changed: ["caller-name"], kept: [] });
    expect(await askAs("ann", gateway)).toBe("called by ann");
    expect(await gateway.reload(passing)).toMatchObject({ changed: [], kept: ["caller-name"] });
    await gateway.reload(configOf(upstream, { credentials, callers: "own" }));
    expect(await askAs("ann", gateway)).toBe("called by gateway");
  });
});

describe("callers: exchange", () => {
  it("each caller is represented by an exchanged token", async () => {
    const service = await tokenService();
    const upstream = await upstreamFor({ ann: `for-${TOKENS.ann}`, bob: `for-${TOKENS.bob}` });
    const client = { clientId: "gw", clientSecret: { env: "CLIENT_SECRET" } };
    const exchange = {
      tokenUrl: service.url,
      ...client,
      audience: "caller-name",
      scopes: ["ask", "see"],
      resource: "urn:caller-name",
    };
    const gateway = await gatewayOf(configOf(upstream, { callers: { exchange } }));
    expect(await Promise.all([askAs("ann", gateway), askAs("bob", gateway)])).toEqual(["called by ann", "called by bob"]);
    expect(upstream.shown).not.toContain(`Bearer ${TOKENS.ann}`);
    const [first] = service.asked;
    // RFC 8693 §2.1 for the form, RFC 6749 §2.3.1 for the client authentication.
    expect(first?.form).toMatchObject({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      audience: "caller-name",
      resource: "urn:caller-name",
      scope: "ask see",
    });
    expect(first?.authorization).toBe(`Basic ${Buffer.from("gw:what+the+client+knows").toString("base64")}`);
    expect(gateway.agents()[0]?.notes.join("\n")).toContain("are exchanged at 127.0.0.1");
  });
});

describe("problems of callers are reported with line and column", () => {
  const AUTH = "auth: { tokens: { env: CALLERS } }\n";
  const AGENT = "agents:\n  - name: one\n    upstream: http://127.0.0.1:9\n";
  const exchange = (members: string): string => `${AUTH}${AGENT}    callers:\n      exchange: { ${members} }\n`;
  const MEMBER = "agents[0].callers";

  it.each([
    [
      "a value that is not allowed",
      `${AUTH}${AGENT}    callers: everybody\n`,
      `5:14: ${MEMBER} must be own, passthrough or { exchange: { tokenUrl: URL } }`,
    ],
    [
      "an unknown member",
      exchange("tokenUrl: https://t.example, audiance: x"),
      `6:48: ${MEMBER}.exchange.audiance is unknown; did you mean audience?`,
    ],
    ["no token URL", exchange("audience: x"), `6:17: ${MEMBER}.exchange.tokenUrl is missing`],
    ["a token URL in clear text", exchange("tokenUrl: http://t.example"), `6:29: ${MEMBER}.exchange.tokenUrl must use https`],
    [
      "a secret in the file",
      exchange("tokenUrl: https://t.example, clientId: a, clientSecret: hush"),
      `6:75: ${MEMBER}.exchange.clientSecret must be { env: NAME } or { file: PATH }`,
    ],
    [
      "a client without its secret",
      exchange("tokenUrl: https://t.example, clientId: a"),
      `6:58: ${MEMBER}.exchange.clientId requires clientSecret`,
    ],
    [
      "no authentication of callers",
      `${AGENT}    callers: passthrough\n`,
      `4:14: ${MEMBER} forwards callers' tokens without authenticating callers`,
    ],
    [
      "a conflicting credential of the gateway",
      `${AUTH}${AGENT}    callers: passthrough\n    credentials: { oauth2: { clientId: a, clientSecret: { env: B } } }\n`,
      "6:28: agents[0].credentials.oauth2 conflicts with callers",
    ],
    [
      "an agent that is called by its DID",
      `${AUTH}agents:\n  - name: one\n    upstream: did:web:one.example\n    callers: passthrough\n`,
      "4:15: agents[0].upstream must be a URL",
    ],
  ])("%s", async (_what, text, expected) => {
    const refused: unknown = await parseConfig(text, { name: "koine.yaml", folder: "/nowhere", env: {} }).catch(
      (thrown: unknown) => thrown,
    );
    expect(String(refused)).toContain(`koine.yaml:${expected}`);
    expect(String(refused)).not.toContain("hush");
  });

  it("a problem of the defaults is reported once", async () => {
    const text = `defaults: { callers: passthrough }\n${AGENT}  - name: two\n    upstream: http://127.0.0.1:8\n`;
    await expect(parseConfig(text, { name: "koine.yaml", folder: "/nowhere", env: {} })).rejects.toMatchObject({
      problems: [{ member: "defaults.callers", place: { line: 1, column: 22 } }],
    });
  });
});
