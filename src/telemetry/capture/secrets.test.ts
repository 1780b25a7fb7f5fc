import { describe, expect, it } from "vitest";
import { hideInText, hideSecrets, isSecretName, keptHeaders, requestHead } from "./secrets.js";

describe("secrets in JSON text", () => {
  it.each([
    ["a string", '{"token":"abc","text":"hi"}', '{"token":"…","text":"hi"}'],
    ["white space and other spellings stay", '{ "a" : 1.0,\n "Api_Key" :\t"x" }', '{ "a" : 1.0,\n "Api_Key" :\t"…" }'],
    ["a number", '{"password":1234,"n":1}', '{"password":"…","n":1}'],
    ["an object", '{"credentials":{"a":["}",1]},"n":1}', '{"credentials":"…","n":1}'],
    ["null is no secret", '{"token":null}', '{"token":null}'],
    ["an escaped name", '{"\\u0074oken":"abc"}', '{"\\u0074oken":"…"}'],
    ["an escaped quote in the value", '{"token":"a\\"b","n":1}', '{"token":"…","n":1}'],
    ["cut off in the value", '{"n":1,"clientSecret":"ab', '{"n":1,"clientSecret":"…"'],
    ["cut off in an object", '{"credentials":{"a":"b', '{"credentials":"…"'],
    ["in JSON that is a string", '{"body":"{\\"token\\":\\"abc\\"}"}', '{"body":"{\\"token\\":\\"…\\"}"}'],
    ["in events", 'data: {"token":"abc"}\n\n', 'data: {"token":"…"}\n\n'],
    ["a place in a list", '{"nextPageToken":"abc"}', '{"nextPageToken":"abc"}'],
    ["a text that speaks of one", '{"text":"the token is \\"x\\""}', '{"text":"the token is \\"x\\""}'],
  ])("%s", (_what, text, hidden) => {
    expect(hideInText(text)).toBe(hidden);
  });

  it("redacts nothing twice", () => {
    const once = hideInText('{"token":"abc","authorization":"Bearer x"}');
    expect(hideInText(once)).toBe(once);
  });
});

describe("secrets in documents", () => {
  it("are hidden at any depth, and the document itself is left alone", () => {
    const document = { metadata: { list: [{ "x-api-key": "abc" }], kept: true } };
    expect(hideSecrets(document)).toEqual({ metadata: { list: [{ "x-api-key": "…" }], kept: true } });
    expect(document.metadata.list[0]?.["x-api-key"]).toBe("abc");
  });

  it("without any the same document is given back", () => {
    const document = { text: "hello", nested: [{ a: null }] };
    expect(hideSecrets(document)).toBe(document);
  });
});

describe("names, headers and queries", () => {
  it.each(["token", "accessToken", "client_secret", "Authorization", "api-key", "private_key", "Set-Cookie", "credentials"])(
    "%s is a secret",
    (name) => {
      expect(isSecretName(name)).toBe(true);
    },
  );

  it.each(["tokens", "max_tokens", "pageToken", "next_page_token", "authorizationUrl", "text", "scheme"])(
    "%s is none",
    (name) => {
      expect(isSecretName(name)).toBe(false);
    },
  );

  it("keeps only header fields that say how to read a message", () => {
    const kept = keptHeaders({
      "content-type": "application/json",
      "a2a-version": "1.0",
      traceparent: "00-x",
      authorization: "Bearer x",
      cookie: "a=b",
      "x-api-key": "k",
      "x-anything": "else",
    });
    expect(kept).toEqual({ "content-type": "application/json", "a2a-version": "1.0", traceparent: "00-x" });
  });

  it("keeps numbers of a query, and redacts possible keys", () => {
    expect(requestHead("GET", "/tasks/1", "historyLength=3&key=s3cret&follow=true&x")).toBe(
      "GET /tasks/1?historyLength=3&key=…&follow=true&x",
    );
  });
});
