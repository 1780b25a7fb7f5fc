import { describe, expect, it } from "vitest";
import { UpstreamAddressRewriter } from "./upstream-address.js";

describe("UpstreamAddressRewriter", () => {
  it.each([
    ["https://gw.example/base", "http://inner:9000", "https://gw.example/base/a2a?x=1", "http://inner:9000/a2a?x=1"],
    ["https://gw.example/base/", "http://inner:9000/deep/", "https://gw.example/base", "http://inner:9000/deep"],
    ["https://gw.example", "http://inner:9000", "https://gw.example:443/a2a", "http://inner:9000/a2a"],
    ["https://gw.example:8443", "http://inner:9000", "gw.example:8443/a.Service/Call", "inner:9000/a.Service/Call"],
    ["http://[2001:db8::1]:80", "http://[fd00::7]:9000", "http://[2001:db8::1]/a2a", "http://[fd00::7]:9000/a2a"],
  ])("%s in front of %s: %s is found at %s", (publicUrl, url, target, found) => {
    expect(new UpstreamAddressRewriter(publicUrl, url).address(target)).toBe(found);
  });

  it.each([
    "https://gw.example/basement",
    "https://gw.example.evil.example/base",
    "http://gw.example/base",
    "https://other.example",
  ])("leads nowhere else: %s stays", (target) => {
    expect(new UpstreamAddressRewriter("https://gw.example/base", "http://inner:9000").address(target)).toBe(target);
  });
});
