import { expect, it } from "vitest";
import { addressKey, localUrl } from "./addresses.js";

it.each([
  [undefined, "http://127.0.0.1:8080"],
  ["127.0.0.1", "http://127.0.0.1:8080"],
  ["0.0.0.0", "http://127.0.0.1:8080"],
  ["::", "http://[::1]:8080"],
  ["[::1]", "http://[::1]:8080"],
  ["10.1.2.3", "http://10.1.2.3:8080"],
  ["agents.example", "http://agents.example:8080"],
])("a gateway that listens on %s has the local URL %s", (host, expected) => {
  expect(localUrl(host, 8080)).toBe(expected);
});

it("all loopback names map to one address key", () => {
  const keys = ["http://localhost:1", "http://127.0.0.9:1", "http://[::1]:1", "http://0.0.0.0:1"].map(addressKey);
  expect(new Set(keys)).toEqual(new Set(["loopback:1"]));
});
