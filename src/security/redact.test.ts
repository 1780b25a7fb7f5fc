import { expect, test } from "vitest";
import { redactHeaders, redactUrl } from "./redact.js";

test("redactHeaders() keeps names and hides secrets", () => {
  const headers = {
    authorization: "Bearer s3cret",
    Cookie: "s3cret",
    "x-my-token": "s3cret",
    "x-api-key": "s3cret",
    "content-type": "application/json",
    host: undefined,
  };
  expect(redactHeaders(headers)).toEqual({
    authorization: "[redacted]",
    Cookie: "[redacted]",
    "x-my-token": "[redacted]",
    "x-api-key": "[redacted]",
    "content-type": "application/json",
  });
  expect(headers.authorization).toBe("Bearer s3cret");
});

test("redactUrl() hides user, password, fragment and secret parameters", () => {
  for (const [url, want] of [
    ["https://h/p?a=1", "https://h/p?a=1"],
    ["https://u:s3cret@h/p", "https://h/p"],
    ["http:u:s3cret@h/p", "http://h/p"],
    ["https://h/p?a=1&access_token=s3cret&b", "https://h/p?a=1&access_token=[redacted]&b"],
    ["https://h/p?%74oken=s3cret", "https://h/p?%74oken=[redacted]"],
    ["https://h/p?%zz=1", "https://h/p?%zz=1"],
    ["/artifacts/x?expires=1&owner=o&sig=s3cret", "/artifacts/x?expires=1&owner=o&sig=[redacted]"],
    ["https://h/p#token=s3cret", "https://h/p"],
    ["https://h/p?api_key=s3cret#x", "https://h/p?api_key=[redacted]"],
    ["not a url", "not a url"],
  ] as const)
    expect(redactUrl(url)).toBe(want);
});
