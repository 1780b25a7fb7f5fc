import { expect, it } from "vitest";
import { addressText, homeOf } from "./addresses.js";

it.each([
  [undefined, "http://127.0.0.1:8080"],
  ["127.0.0.1", "http://127.0.0.1:8080"],
  ["0.0.0.0", "http://127.0.0.1:8080"],
  ["::", "http://[::1]:8080"],
  ["[::1]", "http://[::1]:8080"],
  ["10.1.2.3", "http://10.1.2.3:8080"],
  ["agents.example", "http://agents.example:8080"],
])("a gateway that listens on %s is reached from its own machine at %s", (host, home) => {
  expect(homeOf(host, 8080)).toBe(home);
});

it("all names of this machine's own loopback are one place", () => {
  const places = ["http://localhost:1", "http://127.0.0.9:1", "http://[::1]:1", "http://0.0.0.0:1"].map(addressText);
  expect(new Set(places)).toEqual(new Set(["loopback:1"]));
});
