import { describe, expect, test } from "vitest";
import { CancelSource } from "../envelope/index.js";
import { makeRequest, splitTarget } from "./request.js";

describe("splitTarget", () => {
  test.each([
    ["http://h:1/a/b?c=d#e", "http://h:1", "/a/b", "c=d"],
    ["http://h", "http://h", "/", ""],
    ["http://h?q=/x", "http://h", "/", "q=/x"],
    ["https://[::1]:8/a%2Fb", "https://[::1]:8", "/a%2Fb", ""],
    ["/a?b?c", "", "/a", "b?c"],
    ["/a?u=http://x/y", "", "/a", "u=http://x/y"],
    ["*", "", "*", ""],
  ])("%s", (target, origin, path, query) => {
    expect(splitTarget(target)).toEqual({ origin, path, query });
  });
});

describe("makeRequest", () => {
  test("has every member of a request", () => {
    const cancel = new CancelSource();
    const headers = { "content-type": "application/json", "x-absent": undefined };
    const request = makeRequest({ method: "POST", url: "http://h/p?q=1", headers, body: '{"a":1}', cancel });
    expect(request).toMatchObject({ method: "POST", path: "/p", query: "q=1", target: "http://h/p?q=1", cancel });
    expect(request.rawHeaders).toEqual(["content-type", "application/json"]);
    expect(request.json()).toEqual({ a: 1 });
    expect(request.json()).toBe(request.json());
    expect(new TextDecoder().decode(request.body)).toBe('{"a":1}');
  });

  test("without a cancel the request cannot be cancelled", () => {
    const request = makeRequest({ method: "GET", url: "http://h/" });
    expect(request.cancel.cancelled).toBe(false);
    expect(request.body).toHaveLength(0);
  });
});
