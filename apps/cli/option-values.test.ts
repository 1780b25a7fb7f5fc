import { describe, expect, test } from "vitest";
import { credentialsOf } from "./credentials.js";
import { collectPairs, parseCount, parseMoment, parsePort, parseSeconds, settingsOf } from "./option-values.js";
import { checkedAddress } from "./peer.js";
import { oneLine, printable, shellWord } from "./printable.js";

describe("values of options", () => {
  test("parses valid values", () => {
    expect(parsePort("0")).toBe(0);
    expect(parsePort("65535")).toBe(65_535);
    expect(parseSeconds("1.5")).toBe(1_500);
    expect(parseCount("20")).toBe(20);
    expect(parseMoment("2026-01-31T12:00:00Z")).toBe(1_769_860_800_000);
    expect(parseMoment("1769860800")).toBe(1_769_860_800_000);
  });

  test.each([
    ["port", () => parsePort("65536")],
    ["port", () => parsePort("-1")],
    ["seconds", () => parseSeconds("0")],
    ["seconds", () => parseSeconds("")],
    ["seconds", () => parseSeconds("Infinity")],
    ["count", () => parseCount("0")],
    ["moment", () => parseMoment("yesterday")],
    ["pair", () => collectPairs("=value")],
    ["setting", () => settingsOf(new Map([["nodot", "1"]]))],
  ])("rejects a wrong %s", (_what, parse) => {
    expect(parse).toThrow(/It |A |looks/);
  });

  test("settings are grouped by protocol, versions stay text, and no name is special", () => {
    const pairs = ["one.a=1.0", "one.b=true", "__proto__.x=1"].reduce<ReadonlyMap<string, string>>(
      (all, pair) => collectPairs(pair, all),
      new Map(),
    );
    const settings = settingsOf(pairs);
    expect(JSON.stringify(settings)).toBe('{"one":{"a":"1.0","b":true},"__proto__":{"x":"1"}}');
    expect(Object.getPrototypeOf(settings)).toBe(Object.prototype);
  });
});

describe("credentialsOf", () => {
  test("the named variable wins over KOINE_TOKEN, and a header over both", () => {
    const env = { KOINE_TOKEN: "one", OTHER: " two\n" };
    expect(credentialsOf({}, env)).toEqual({ headers: {}, bearer: "one" });
    expect(credentialsOf({ tokenEnv: "OTHER" }, env)).toEqual({ headers: {}, bearer: "two" });
    expect(credentialsOf({ header: ["Authorization: Basic x:y"] }, env)).toEqual({ headers: { Authorization: "Basic x:y" } });
    expect(credentialsOf({}, {})).toEqual({ headers: {} });
  });

  test("errors do not contain the secret", () => {
    expect(() => credentialsOf({ tokenEnv: "NOT_SET" }, {})).toThrow("--token-env names NOT_SET, and that variable is not set");
    expect(() => credentialsOf({ header: ["secret-without-name"] }, {})).toThrow("--header does not look like 'Name: value'");
    expect(() => credentialsOf({ header: ["X-Key: a\r\nX-Other: b"] }, {})).toThrow("--header does not look like 'Name: value'");
  });
});

describe("checkedAddress", () => {
  test.each([["localhost:8080"], ["127.0.0.1"], ["ftp://host"], ["http://"], ["http://ann:secret@host"]])(
    "%s is refused",
    (url) => {
      expect(() => checkedAddress(url)).toThrow(expect.objectContaining({ name: "CliError", exit: 2 }));
    },
  );

  test("the error does not repeat a password", () => {
    expect(() => checkedAddress("http://ann:secret@host")).toThrow("credentials are not allowed in a URL");
  });
});

describe("untrusted text", () => {
  test("cannot control the terminal", () => {
    expect(printable("a\u001b[31mb\u0007c\r\nd\te\u202ef")).toBe("a�[31mb�c\nd\te�f");
    expect(oneLine(" a\n\n b ", 80)).toBe("a b");
    expect(oneLine("abcdef", 4)).toBe("abc…");
  });

  test("cannot become a command when copied", () => {
    expect(shellWord("4f1c-2.a:b")).toBe("4f1c-2.a:b");
    expect(shellWord("x; rm -rf ~")).toBe("'x; rm -rf ~'");
    expect(shellWord("it's $(here)\n")).toBe("'it'\\''s $(here) '");
    expect(shellWord("")).toBe("''");
  });
});
