import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type TokenExchangeOptions, tokenExchange } from "./token-exchange.js";

/** RFC 8693 against a token service on a real socket. */

interface Asked {
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
}
type Answer = readonly [status: number, body: object];

const TOKEN_TYPE = "urn:ietf:params:oauth:token-type:access_token";
let service: Server | undefined;
afterEach(async () => {
  service?.closeAllConnections();
  await new Promise((resolve) => (service === undefined ? resolve(undefined) : service.close(resolve)));
  service = undefined;
});

async function open(answer: (asked: Asked, count: number) => Answer | Promise<Answer>) {
  const asked: Asked[] = [];
  const made = createServer(async (request, response) => {
    const question = { form: new URLSearchParams(await textOf(request)), authorization: request.headers.authorization };
    asked.push(question);
    const [status, body] = await answer(question, asked.length);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  service = made;
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(made.address() as AddressInfo).port}/token`, asked };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks).toString("utf8");
}

const given = (token: string, seconds = 300): Answer => [
  200,
  { access_token: token, issued_token_type: TOKEN_TYPE, token_type: "Bearer", expires_in: seconds },
];

function at(tokenUrl: string, more: Partial<TokenExchangeOptions> = {}) {
  let nowMs = 1_000_000;
  const exchange = tokenExchange({ tokenUrl, ...more }, () => nowMs);
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { exchange, pass };
}

describe("a token exchange", () => {
  it("sends the request of RFC 8693 with its client credentials", async () => {
    const { url, asked } = await open(() => given("new"));
    const { exchange } = at(url, {
      client: { clientId: "the gateway", clientSecret: "s:cret" },
      audience: "orders",
      resource: "https://orders.example",
      scopes: ["read", "write"],
    });
    expect(await exchange.tokenFor("callers-own")).toBe("new");
    expect(Object.fromEntries(asked[0]?.form ?? [])).toEqual({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: "callers-own",
      subject_token_type: TOKEN_TYPE,
      requested_token_type: TOKEN_TYPE,
      audience: "orders",
      resource: "https://orders.example",
      scope: "read write",
    });
    // RFC 6749 §2.3.1: form-encoded before they are joined.
    expect(asked[0]?.authorization).toBe(`Basic ${Buffer.from("the+gateway:s%3Acret").toString("base64")}`);
  });

  it("requests one token per caller, until shortly before it expires", async () => {
    const { url, asked } = await open(({ form }, count) => given(`${form.get("subject_token")}-${count}`, 100));
    const { exchange, pass } = at(url);
    expect(await Promise.all([exchange.tokenFor("ann"), exchange.tokenFor("ann"), exchange.tokenFor("ann")])).toEqual([
      "ann-1",
      "ann-1",
      "ann-1",
    ]);
    expect(await exchange.tokenFor("bob")).toBe("bob-2");
    pass(79_000);
    expect(await exchange.tokenFor("ann")).toBe("ann-1");
    pass(2_000);
    expect(await exchange.tokenFor("ann")).toBe("ann-3");
    expect(asked).toHaveLength(3);
  });

  it("drops a token that was rejected, and keeps a newer one", async () => {
    const { url } = await open((_asked, count) => given(`new-${count}`));
    const { exchange } = at(url);
    const first = await exchange.tokenFor("ann");
    exchange.drop("ann", first);
    expect(await exchange.tokenFor("ann")).toBe("new-2");
    exchange.drop("ann", first);
    expect(await exchange.tokenFor("ann")).toBe("new-2");
  });

  it("limits the number of cached callers", async () => {
    const { url, asked } = await open(() => given("new"));
    const { exchange } = at(url, { limits: { tokens: 2 } });
    for (const caller of ["ann", "bob", "cid", "ann"]) await exchange.tokenFor(caller);
    expect(asked).toHaveLength(4);
  });

  it.each([
    [400, { error: "invalid_grant" }, "unauthenticated", "rejected the caller's token (invalid_grant)"],
    [400, { error: "invalid_request" }, "unauthenticated", "rejected the caller's token (invalid_request)"],
    [400, { error: "invalid_target" }, "forbidden", "denied the caller a token for this agent (invalid_target)"],
    [400, { error: "invalid_scope" }, "forbidden", "denied the caller a token for this agent (invalid_scope)"],
    [401, { error: "invalid_client" }, "bad_peer", "rejected this gateway's credentials (invalid_client)"],
    [400, { error: "callers-own is <b>" }, "unauthenticated", "rejected the caller's token"],
    [500, {}, "unavailable", "HTTP 500"],
    [200, { access_token: "x", token_type: "mac" }, "bad_peer", "did not return a bearer token"],
    [200, {}, "bad_peer", "did not return a bearer token"],
  ])("explains %i %o, without the token", async (status, body, code, words) => {
    const { url, asked } = await open(() => [status, body]);
    const { exchange, pass } = at(url, { client: { clientId: "c", clientSecret: "the-clients-secret" } });
    const error = await exchange.tokenFor("callers-own").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) });
    expect(String(error)).not.toMatch(/callers-own|the-clients-secret/);
    // Several interfaces of one peer are tried in quick succession: that is one request.
    await exchange.tokenFor("callers-own").catch(() => undefined);
    expect(asked).toHaveLength(1);
    pass(1_000);
    await exchange.tokenFor("callers-own").catch(() => undefined);
    expect(asked).toHaveLength(2);
  });

  it("limits concurrent requests and their duration", async () => {
    const { url } = await open(() => new Promise(() => undefined));
    const { exchange } = at(url, { limits: { maxConcurrent: 1, fetchMs: 50 } });
    const waiting = exchange.tokenFor("ann");
    await expect(exchange.tokenFor("bob")).rejects.toMatchObject({ code: "overloaded" });
    await expect(waiting).rejects.toMatchObject({ code: "deadline" });
  });

  it.each([
    ["http://tokens.example/token", "plain http"],
    ["https://me:secret@tokens.example/token", "contains credentials"],
    ["ftp://tokens.example/token", "not an http or https URL"],
    ["tokens.example", "not an http or https URL"],
  ])("does not send callers' tokens to %s", (tokenUrl, words) => {
    expect(() => at(tokenUrl)).toThrow(words);
  });
});
