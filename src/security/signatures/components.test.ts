import { describe, expect, it } from "vitest";
import { parseComponent, type SignedMessage, type SignedRequest } from "./components.js";
import { dictionaryText, parseDictionary, parseItem, parseList, stringText } from "./structured-fields.js";

function request(target: string, fields: readonly (readonly [string, string])[] = []): SignedRequest {
  const headers: { [name: string]: string } = {};
  for (const [name, value] of fields) headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  return { method: "GET", target, headers, rawHeaders: fields.flat() };
}

/** The value in the line of a component. */
function valueIn(component: string, message: SignedRequest | SignedMessage): string {
  const { text, lineIn } = parseComponent(component);
  const line = lineIn("request" in message ? message : { request: message });
  expect([line.slice(0, text.length + 2), line.at(-1)]).toEqual([`${text}: `, "\n"]);
  return line.slice(text.length + 2, -1);
}

/** Expected values are the examples of RFC 9421 §2.1 and §2.2. */
describe("components of a request", () => {
  const DICTIONARY = request("https://www.example.com/", [["example-dict", " a=1, b=2;x=1;y=2, c=(a   b    c), d"]]);

  it.each([
    ["@method", "GET"],
    ["@target-uri", "https://www.example.com/path?param=value"],
    ["@authority", "www.example.com"],
    ["@scheme", "https"],
    ["@request-target", "/path?param=value"],
    ["@path", "/path"],
    ["@query", "?param=value"],
  ])("%s is %s", (component, value) => {
    expect(valueIn(component, request("https://www.example.com/path?param=value"))).toBe(value);
  });

  it("normalises scheme, host and the default port, and nothing else", () => {
    expect(valueIn("@authority", request("HTTPS://Www.Example.com:443/Path"))).toBe("www.example.com");
    expect(valueIn("@authority", request("http://example.com:80/"))).toBe("example.com");
    expect(valueIn("@authority", request("http://example.com:8080/"))).toBe("example.com:8080");
    expect(valueIn("@authority", request("https://[::1]:443/"))).toBe("[::1]");
    expect(valueIn("@scheme", request("HTTPS://Www.Example.com/"))).toBe("https");
    expect(valueIn("@path", request("https://example.com"))).toBe("/");
    expect(valueIn("@path", request("https://example.com/a%2Fb/../c"))).toBe("/a%2Fb/../c");
    expect(valueIn("@query", request("https://example.com/path"))).toBe("?");
    expect(valueIn("@query", request("https://example.com/path?"))).toBe("?");
  });

  it("has single query parameters, encoded again", () => {
    const target =
      "https://x/parameters?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something&qux=";
    expect(valueIn('"@query-param";name="var"', request(target))).toBe("this%20is%20a%20big%0Amultiline%20value");
    expect(valueIn('"@query-param";name="bar"', request(target))).toBe("with%20plus%20whitespace");
    expect(valueIn('"@query-param";name="fa%C3%A7ade%22%3A%20"', request(target))).toBe("something");
    expect(valueIn('"@query-param";name="qux"', request(target))).toBe("");
    expect(() => valueIn('"@query-param";name="none"', request(target))).toThrow("has no");
    expect(() => valueIn('"@query-param";name="a"', request("https://x/?a=1&a=2"))).toThrow("more than once");
  });

  it("has members of dictionaries", () => {
    expect(valueIn('"example-dict";key="a"', DICTIONARY)).toBe("1");
    expect(valueIn('"example-dict";key="d"', DICTIONARY)).toBe("?1");
    expect(valueIn('"example-dict";key="b"', DICTIONARY)).toBe("2;x=1;y=2");
    expect(valueIn('"example-dict";key="c"', DICTIONARY)).toBe("(a b c)");
    expect(() => valueIn('"example-dict";key="e"', DICTIONARY)).toThrow("has no");
  });

  it("has fields as they are, joined, wrapped and strict", () => {
    const lines = request("https://x/", [
      ["example-header", "value, with, lots"],
      ["example-header", "of, commas"],
      ["priority", "u=1,    i;x=1;y=2,   c=(a   b   c)"],
    ]);
    expect(valueIn("example-header", lines)).toBe("value, with, lots, of, commas");
    expect(valueIn('"example-header";bs', lines)).toBe(":dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:");
    expect(valueIn('"priority";sf', lines)).toBe("u=1, i;x=1;y=2, c=(a b c)");
    expect(valueIn("priority", lines)).toBe("u=1,    i;x=1;y=2,   c=(a   b   c)");
  });

  it("has trailers apart from headers", () => {
    const message = {
      request: request("https://x/"),
      response: { status: 200, headers: { expires: "header" }, trailers: { expires: "trailer" } },
    };
    expect(valueIn('"expires";tr', message)).toBe("trailer");
    expect(valueIn("expires", message)).toBe("header");
    expect(valueIn("@status", message)).toBe("200");
    expect(valueIn('"@path";req', message)).toBe("/");
    expect(() => valueIn("@path", message)).toThrow("needs the parameter req");
  });

  it.each([
    ['"example-header";sf', "type of this field is not known"],
    ['"example-header";bs;sf', "cannot be combined"],
    ['"example-header";bs;key="a"', "cannot be combined"],
    ['"example-header";name="a"', "is for @query-param"],
    ['"@path";sf', "is for header fields"],
    ['"@query-param"', "needs the parameter name"],
    ['"@signature-params"', "no such component"],
    ['"__proto__"', "has no"],
    ['"constructor";bs', "has no"],
    ['"constructor"', "has no"],
    ['"@constructor"', "no such component"],
    ['"x";key=1', "wrong type"],
    ['"x";req=?0', "wrong type"],
  ])("refuses %s by name", (component, why) => {
    expect(() => valueIn(component, request("https://x/"))).toThrow(new RegExp(why));
  });

  it("refuses values that would add a line, and unfolds old ones", () => {
    expect(() => valueIn("x", request("https://x/", [["x", 'a\n"@method": PUT']]))).toThrow("cannot be signed");
    expect(() => valueIn("x", request("https://x/", [["x", "é"]]))).toThrow("cannot be signed");
    expect(valueIn("x", request("https://x/", [["x", "a\r\n  b"]]))).toBe("a b");
  });

  it("tells equal components apart from different ones, whatever the order of their parameters", () => {
    expect(parseComponent('"a";key="b";req').key).toBe(parseComponent('"a";req;key="b"').key);
    expect(parseComponent('"a";key="b"').key).not.toBe(parseComponent('"a";key="c"').key);
  });
});

/** Examples of RFC 8941 §3 and §4. */
describe("structured fields", () => {
  it.each([
    ['sig1=("@method"  "@path" ) ; created=0123;  x=?1;y', 'sig1=("@method" "@path")'],
    ["a=?0, b, c; foo=bar", "a=?0, b, c;foo=bar"],
    ["a=1.50, b=-0.5, c=:aGVsbG8=:, d=tok/en", "a=1.5, b=-0.5, c=:aGVsbG8=:, d=tok/en"],
    ['a="q\\"\\\\"', 'a="q\\"\\\\"'],
  ])("reads the dictionary %s", (text, expected) => {
    if (text.startsWith("sig1")) expect(() => parseDictionary(text)).toThrow("a comma");
    else expect(dictionaryText(parseDictionary(text))).toBe(expected);
  });

  it("keeps the received text where it is canonical, and its canonical form elsewhere", () => {
    const received = '("@method" "x";key="a\\"b");created=1;tag="t";unknown=tok;flag';
    expect(parseDictionary(`s=${received}`).get("s")?.text).toBe(received);
    expect(parseDictionary('s=( "a"  "b";x=?1 );created=007;n=1.0;f=?1').get("s")?.text).toBe('("a" "b";x);created=7;n=1.0;f');
    expect(parseItem("2.0").text).toBe("2.0");
    expect(parseList("a,\tb ,  (1  2);x").map(({ text }) => text)).toEqual(["a", "b", "(1 2);x"]);
  });

  it("lets the last of two equal keys win, unless it is told to refuse", () => {
    expect(dictionaryText(parseDictionary("a=1, b=2, a=3"))).toBe("a=3, b=2");
    expect(() => parseDictionary("a=1, a=1", "refuse")).toThrow("occurs twice");
    expect(() => parseDictionary("a=1;x;x", "refuse")).toThrow("occurs twice");
    expect(parseDictionary("a=1;x=1;x=2").get("a")?.text).toBe("1;x=2");
  });

  it.each([
    "a=",
    "a=1,",
    "A=1",
    "a=1 b=2",
    "a=(1",
    "a=(1,2)",
    'a="x',
    "a=:x:",
    "a=:YQ:",
    "a=1234567890123456",
    "a=1.2345",
    "a=?2",
    "a=é",
    ",",
    "a=--1",
  ])("refuses %s", (text) => {
    expect(() => parseDictionary(text)).toThrow("was expected at character");
  });

  it("writes strings, and refuses what they cannot hold", () => {
    expect(stringText('a"b\\c')).toBe('"a\\"b\\\\c"');
    expect(() => stringText("a\nb")).toThrow("ASCII");
  });
});
