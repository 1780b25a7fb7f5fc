import { describe, expect, test } from "vitest";
import { makeRequest } from "../transport/request.js";
import { createHostCheck, type HostCheckOptions } from "./host-check.js";

function verdict(options: HostCheckOptions, host: string | undefined, origin?: string): string {
  const request = makeRequest({ method: "POST", url: "http://x/", headers: { host, origin } });
  const error = createHostCheck(options)(request);
  return error === undefined ? "taken" : `${error.code} ${error.facts.field}`;
}

describe("the Host header", () => {
  for (const [host, want] of [
    ["localhost:8080", "taken"],
    ["127.0.0.1:8080", "taken"],
    ["[::1]:8080", "taken"],
    ["LocalHost:8080", "taken"],
    ["localhost:8081", "forbidden host"],
    ["localhost", "forbidden host"],
    ["localhost.:8080", "forbidden host"],
    ["evil.example:8080", "forbidden host"],
    ["127.0.0.1.evil.example:8080", "forbidden host"],
    ["localhost:8080@evil.example", "forbidden host"],
    ["10.0.0.5:8080", "forbidden host"],
    ["__proto__", "forbidden host"],
    ["", "forbidden host"],
    [undefined, "forbidden host"],
  ] as const)
    test(`${host} on a loopback port is ${want}`, () => {
      expect(verdict({ port: 8080, boundHost: "127.0.0.1" }, host)).toBe(want);
    });

  test("may leave out a default port", () => {
    expect(verdict({ port: 80 }, "localhost")).toBe("taken");
    expect(verdict({ port: 80, boundHost: "10.0.0.5" }, "10.0.0.5")).toBe("taken");
  });

  test("may be a name the operator gave, with or without a port", () => {
    const options = { port: 8080, names: ["Agents.example", "localhost:9000"], publicUrl: "https://koine.example/base" };
    const hosts = [
      "agents.example",
      "agents.example:8080",
      "localhost:9000",
      "koine.example",
      "agents.example:1",
      "localhost:9001",
    ];
    expect(hosts.map((host) => verdict(options, host))).toEqual([
      "taken",
      "taken",
      "taken",
      "taken",
      "forbidden host",
      "forbidden host",
    ]);
  });

  test("may be any literal address where all addresses are served, but no name", () => {
    const options = { port: 8080, boundHost: "0.0.0.0" };
    const hosts = ["10.0.0.5:8080", "[fd00::5]:8080", "10.0.0.5:81", "10.0.0.5", "rebind.example:8080", "fd00::5:8080"];
    expect(hosts.map((host) => verdict(options, host))).toEqual([
      "taken",
      "taken",
      "forbidden host",
      "forbidden host",
      "forbidden host",
      "forbidden host",
    ]);
  });

  test("of a bound IPv6 address has brackets", () => {
    expect(verdict({ port: 8080, boundHost: "fd00::5" }, "[fd00::5]:8080")).toBe("taken");
  });

  test("is remembered once taken, and a foreign one is not", () => {
    const check = createHostCheck({ port: 8080, boundHost: "0.0.0.0" });
    const ask = (host: string) => check(makeRequest({ method: "GET", url: "http://x/", headers: { host } }))?.code;
    const hosts = ["10.0.0.5:8080", "evil.example:8080"];
    expect([...hosts, ...hosts].map(ask)).toEqual([undefined, "forbidden", undefined, "forbidden"]);
  });
});

describe("the Origin header", () => {
  const options = { port: 8080, publicUrl: "https://koine.example/base", allowedOrigins: ["https://app.example"] };
  for (const [origin, want] of [
    [undefined, "taken"],
    ["http://localhost:8080", "taken"],
    ["https://koine.example", "taken"],
    ["https://app.example", "taken"],
    ["http://localhost:3000", "forbidden origin"],
    ["http://127.0.0.1:8080", "forbidden origin"],
    ["https://evil.example", "forbidden origin"],
    ["https://app.example.evil.example", "forbidden origin"],
    ["null", "forbidden origin"],
    ["", "forbidden origin"],
    ["*", "forbidden origin"],
  ] as const)
    test(`${origin} is ${want}`, () => {
      expect(verdict(options, "localhost:8080", origin)).toBe(want);
    });

  test("accepts any host if configured", () => {
    expect(verdict({ port: 8080, allowedOrigins: ["*"] }, "localhost:8080", "https://any.example")).toBe("taken");
  });
});
