import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { makeRequest } from "../transport/request.js";
import { apiKeys } from "./api-keys.js";

const KEY = "key-of-ann-0123456789";
const OTHER = "key-of-bob-0123456789+/=";
const keys = new Map([
  ["ann", KEY],
  ["bob", OTHER],
]);
const ANN = { id: "ann", scheme: "key", scopes: [], owner: "key:ann" };
const request = (headers: Record<string, string>, query = "") =>
  makeRequest({ method: "GET", url: `http://x/${query}`, headers });
const refusal = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error;
  }
};

describe("apiKeys()", () => {
  test("reads a header, whatever the case of its name", () => {
    const admit = apiKeys(keys, { location: "header", name: "X-Api-Key" });
    expect(admit(request({ "x-api-key": KEY }))).toEqual(ANN);
    expect(admit(request({ "x-api-key": OTHER }))).toMatchObject({ id: "bob" });
    expect(admit.security).toEqual({
      schemes: { apiKey: { apiKeySecurityScheme: { location: "header", name: "X-Api-Key" } } },
      anyOf: [{ apiKey: [] }],
    });
  });

  test("reads a query parameter, decoded", () => {
    const admit = apiKeys(keys, { location: "query", name: "k7" });
    expect(admit(request({}, `?a=1&k7=${KEY}`))).toEqual(ANN);
    expect(admit(request({}, `?k7=${encodeURIComponent(OTHER)}`))).toMatchObject({ id: "bob" });
  });

  test("reads a cookie among others", () => {
    const admit = apiKeys(keys, { location: "cookie", name: "session" });
    expect(admit(request({ cookie: `a=1; session=${KEY}; xsession=no` }))).toEqual(ANN);
  });

  test("reports what is required and what is wrong, without the key", () => {
    const admit = apiKeys(keys, { location: "query", name: "key" });
    for (const query of ["", "?other=1", "?key"])
      expect(refusal(() => admit(request({}, query)))).toMatchObject({
        code: "unauthenticated",
        message: "this agent requires an API key in the query parameter key",
      });
    for (const query of ["?key=", `?key=${KEY}x`, `?key=${KEY}&key=${KEY}`, "?key=%zz", `?key=${"x".repeat(5_000)}`]) {
      const error = refusal(() => admit(request({}, query)));
      expect(error).toMatchObject({ code: "unauthenticated", message: "unknown API key" });
      expect(inspect(error, { depth: 9 })).not.toContain(KEY);
    }
  });

  test("refuses weak keys and names that cannot be sent", () => {
    const place = { location: "header", name: "X-Api-Key" } as const;
    for (const key of ["short", `${KEY} space`, `${KEY};`, `${KEY}\n`])
      expect(refusal(() => apiKeys(new Map([["ann", key]]), place))).toMatchObject({ code: "invalid_message" });
    for (const name of ["", "a b", "a\nb", "a:b"])
      expect(refusal(() => apiKeys(keys, { location: "header", name }))).toMatchObject({ code: "invalid_message" });
  });
});
