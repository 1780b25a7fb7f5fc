import { describe, expect, test } from "vitest";
import { AgentError, type JsonObject, type Security } from "../envelope/index.js";
import type { Credentials } from "./credentials.js";
import { satisfy } from "./satisfy-security.js";

const URL = "https://peer.example/agents/one";
const apiKey = (location: string, name: string): JsonObject => ({ apiKeySecurityScheme: { location, name } });
const http = (scheme: string): JsonObject => ({ httpAuthSecurityScheme: { scheme } });
const oauth2 = (tokenUrl: string): JsonObject => ({
  oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl, scopes: {} } } },
});
/** Each scheme an alternative of its own, named by its place. */
const oneOf = (...schemes: readonly JsonObject[]): Security => ({
  schemes: Object.fromEntries(schemes.map((scheme, index) => [`s${index}`, scheme])),
  anyOf: schemes.map((_scheme, index) => ({ [`s${index}`]: ["call"] })),
});
const client = { clientId: "id", clientSecret: "s3cret" };
function problem(security: Security, credentials: Credentials): AgentError {
  try {
    satisfy(security, credentials, URL);
  } catch (thrown) {
    return AgentError.from(thrown);
  }
  throw new Error("it was satisfied");
}

describe("satisfy()", () => {
  for (const [words, security, credentials, want] of [
    ["a header", oneOf(apiKey("header", "X-Key")), { apiKey: "k" }, { headers: { "x-key": "k" } }],
    ["a query parameter", oneOf(apiKey("query", "key")), { apiKey: "k" }, { headers: {}, query: [["key", "k"]] }],
    ["a cookie", oneOf(apiKey("cookie", "sid")), { apiKey: "k" }, { headers: { cookie: "sid=k" } }],
    [
      "a cookie beside one",
      oneOf(apiKey("cookie", "sid")),
      { apiKey: "k", headers: { Cookie: "a=1" } },
      { headers: { cookie: "a=1; sid=k" } },
    ],
    ["a bearer token", oneOf(http("bearer")), { bearer: "t" }, { headers: { authorization: "Bearer t" } }],
    [
      "a header of one's own",
      oneOf(http("Basic")),
      { headers: { Authorization: "Basic x" } },
      { headers: { authorization: "Basic x" } },
    ],
    [
      "the first that can be satisfied, and no more than it requires",
      oneOf(oauth2("https://other.example/token"), apiKey("header", "X-Key"), http("Bearer")),
      { bearer: "t", apiKey: "k" },
      { headers: { authorization: "Bearer t" } },
    ],
    [
      "a key, and not the token beside it",
      oneOf(apiKey("header", "X-Key")),
      { bearer: "t", apiKey: "k" },
      { headers: { "x-key": "k" } },
    ],
    [
      "a token from the address the user named",
      oneOf(oauth2("https://evil.example/token")),
      { oauth2: { ...client, tokenUrl: "https://login.example/token" } },
      { token: { tokenUrl: "https://login.example/token", scopes: ["call"] } },
    ],
    [
      "a token from the peer's own origin",
      oneOf(oauth2("https://peer.example/token")),
      { oauth2: { ...client, scopes: ["mine"] } },
      { token: { tokenUrl: "https://peer.example/token", scopes: ["mine"] } },
    ],
    ["a certificate", oneOf({ mtlsSecurityScheme: {} }), { tls: { cert: "c", key: "k" } }, { headers: {} }],
  ] as const)
    test(`gives ${words}`, () => {
      expect(satisfy(security, credentials as Credentials, URL)).toMatchObject(want);
    });

  test("presents the configured headers where nothing is required, and places a key where one is optional", () => {
    const none: Security = { schemes: {}, anyOf: [] };
    expect(satisfy(none, { bearer: "t", headers: { "X-A": "1" } }, URL)).toEqual({
      headers: { "x-a": "1", authorization: "Bearer t" },
    });
    const offered: Security = { schemes: { s: apiKey("query", "key") }, anyOf: [] };
    expect(satisfy(offered, { apiKey: "k" }, URL)).toMatchObject({ query: [["key", "k"]] });
    expect(satisfy(offered, { bearer: "t" }, URL)).toEqual({ headers: { authorization: "Bearer t" } });
    const optional: Security = { schemes: { s: http("bearer") }, anyOf: [{ s: [] }, {}] };
    expect(satisfy(optional, {}, URL)).toEqual({ headers: {} });
  });

  test("satisfies all schemes of one alternative, or none", () => {
    const both: Security = {
      schemes: { key: apiKey("header", "X-Key"), token: http("bearer") },
      anyOf: [{ key: [], token: [] }],
    };
    expect(satisfy(both, { apiKey: "k", bearer: "t" }, URL)).toMatchObject({
      headers: { "x-key": "k", authorization: "Bearer t" },
    });
    expect(problem(both, { apiKey: "k" }).message).toContain('"token"');
  });

  for (const tokenUrl of [
    "https://evil.example/token",
    "http://peer.example/token",
    "https://peer.example.evil.example/token",
    "https://peer.example:444/token",
    "https://peer.example@evil.example/token",
    "//peer.example/token",
    "token",
  ])
    test(`never sends a secret to ${tokenUrl}, which only the card names`, () => {
      const error = problem(oneOf(oauth2(tokenUrl)), { oauth2: client });
      expect(error).toMatchObject({ code: "unauthenticated", facts: { sent: "no" } });
      expect(error.message).toContain("credentials.oauth2.tokenUrl");
      expect(error.message).not.toContain("s3cret");
    });

  test("names the required schemes and the options that provide them", () => {
    const error = problem(oneOf(apiKey("header", "X-Key"), http("Bearer"), { mtlsSecurityScheme: {} }), {});
    expect(error).toMatchObject({ code: "unauthenticated", facts: { sent: "no" } });
    for (const word of ["s0", "X-Key", "credentials.apiKey", "credentials.bearer", "credentials.tls"])
      expect(error.message).toContain(word);
    const hostile: Security = {
      schemes: {},
      anyOf: Array.from({ length: 1_000 }, (_, index) => ({ [`\u001b[31m${"x".repeat(9_999)}${index}`]: [] })),
    };
    expect(problem(hostile, {}).message.length).toBeLessThan(2_000);
    expect(problem(hostile, {}).message).not.toContain("\u001b");
  });

  test("rejects API keys in framing headers", () => {
    for (const name of ["Host", "Content-Length", "Transfer-Encoding", "a\r\nb", ""])
      expect(problem(oneOf(apiKey("header", name)), { apiKey: "k" }).code).toBe("unauthenticated");
  });
});
