import { createServer, get, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentError } from "../envelope/index.js";
import { classOfUrl, createGuard, type GuardRules, guardUrl } from "./outbound-guard.js";
import { pinnedLookup, resolveByDns } from "./resolve-by-dns.js";

const NAMES: { readonly [name: string]: readonly string[] } = {
  "public.example": ["93.184.216.34", "2606:2800:220:1::1"],
  "mixed.example": ["93.184.216.34", "127.0.0.1"],
  "inside.example": ["10.1.2.3"],
  localhost: ["::1", "127.0.0.1"],
  "localhost.": ["127.0.0.1"],
  "odd.example": ["not an address"],
  "nobody.example": [],
  "many.example": Array.from({ length: 33 }, () => "8.8.8.8"),
};
const resolve: GuardRules["resolve"] = async (name) => NAMES[name] ?? [];
const from = (from: GuardRules["from"]): GuardRules => ({ from, resolve });
const refusal = (url: string, rules: GuardRules): Promise<unknown> => guardUrl(url, rules).catch((thrown: unknown) => thrown);

describe("guardUrl()", () => {
  for (const [url, where] of [
    ["http://127.0.0.1:8080/", "public"],
    ["http://0x7f.1/", "public"],
    ["http://2130706433/", "public"],
    ["http://0177.0.0.1/", "public"],
    ["http://0/", "public"],
    ["http://127.1/", "public"],
    ["http://127.0.0.1./", "public"],
    ["http://[::1]/", "public"],
    ["http://[::ffff:127.0.0.1]/", "public"],
    ["http://[0:0:0:0:0:ffff:7f00:1]/", "public"],
    ["http://localhost/", "public"],
    ["http://LOCALHOST/", "public"],
    ["http://localhost./", "public"],
    ["http://①②⑦.0.0.1/", "public"],
    ["http://inside.example/", "public"],
    ["http://mixed.example/", "public"],
    ["http://localhost/", "private"],
    ["http://169.254.169.254/latest/meta-data/", "public"],
    ["http://169.254.169.254/latest/meta-data/", "private"],
    ["http://169.254.169.254/latest/meta-data/", "loopback"],
    ["http://169.254.169.254/", "reserved"],
    ["http://[fe80::1]/", "loopback"],
    ["http://224.0.0.1/", "loopback"],
    ["http://127.0.0.1/", "reserved"],
    ["file:///etc/passwd", "loopback"],
    ["ftp://public.example/", "loopback"],
    ["gopher://public.example/", "loopback"],
    ["data:text/plain,x", "loopback"],
    ["//public.example/", "loopback"],
    ["", "loopback"],
    ["http://user@public.example/", "loopback"],
    ["http://:pw@public.example/", "loopback"],
    ["http://odd.example/", "loopback"],
    ["http://many.example/", "loopback"],
    [`http://public.example/${"x".repeat(9000)}`, "loopback"],
  ] as const)
    test(`refuses ${url.slice(0, 60)} from a ${where} document`, async () => {
      expect(await refusal(url, from(where))).toMatchObject({ name: "AgentError", code: "forbidden" });
    });

  for (const [url, where, address, family] of [
    ["http://127.0.0.1:8080/a", "loopback", "127.0.0.1", 4],
    ["http://0.0.0.0:8080/", "loopback", "0.0.0.0", 4],
    ["http://[::1]:8080/", "loopback", "::1", 6],
    ["http://10.0.0.1/", "loopback", "10.0.0.1", 4],
    ["http://inside.example/", "private", "10.1.2.3", 4],
    ["https://public.example/x?y", "private", "93.184.216.34", 4],
    ["https://public.example/x?y", "public", "93.184.216.34", 4],
  ] as const)
    test(`takes ${url} from a ${where} document`, async () => {
      expect((await guardUrl(url, from(where))).addresses[0]).toEqual({ address, family });
    });

  test("pins every address of a name and reports the least public class", async () => {
    expect(await guardUrl("HTTP://LocalHost:80/x", from("loopback"))).toEqual({
      url: "http://localhost/x",
      hostname: "localhost",
      addresses: [
        { address: "::1", family: 6 },
        { address: "127.0.0.1", family: 4 },
      ],
      class: "loopback",
    });
  });

  test("names host and class, never the rest of the URL", async () => {
    const error = await refusal("http://10.0.0.1/p?token=s3cret", from("public"));
    expect(error).toMatchObject({
      message: "10.0.0.1 is a private address, and the document that refers to it comes from a public one",
    });
    expect(String(await refusal("http://u:s3cret@public.example/", from("public")))).not.toContain("s3cret");
  });

  test("lets the operator allow a host by name, or by name and port", async () => {
    const rules = { ...from("public"), allow: ["10.0.0.1:8080", "inside.example"] };
    expect((await guardUrl("http://10.0.0.1:8080/", rules)).class).toBe("private");
    expect((await guardUrl("http://inside.example:1/", rules)).class).toBe("private");
    expect(await refusal("http://10.0.0.1:8081/", rules)).toMatchObject({ code: "forbidden" });
  });

  test("a name without an address is unavailable", async () => {
    expect(await refusal("http://nobody.example/", from("public"))).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
  });
});

describe("createGuard()", () => {
  test("checks each redirect anew", async () => {
    const guard = createGuard(from("public"));
    const first = await guard("https://public.example/a/b");
    expect((await guard("../c", first)).url).toBe("https://public.example/c");
    const outcomes = ["https://127.0.0.1/", "//localhost/x", "http://public.example/", "http://[", "file:///x"].map((location) =>
      guard(location, first).then(
        () => "taken",
        (thrown: unknown) => (thrown instanceof AgentError ? thrown.code : "?"),
      ),
    );
    expect(await Promise.all(outcomes)).toEqual(["forbidden", "forbidden", "forbidden", "forbidden", "forbidden"]);
  });
});

test("classOfUrl() uses the most public address, because that allows the least", async () => {
  expect(await classOfUrl("http://mixed.example/", resolve)).toBe("public");
  expect(await classOfUrl("http://localhost:1/", resolve)).toBe("loopback");
  expect(await classOfUrl("http://0x7f.1/", resolve)).toBe("loopback");
  expect(await classOfUrl("http://odd.example/", resolve)).toBe("public");
});

describe("a name that changes its address after the check", () => {
  let server: Server;
  let port: number;
  beforeAll(async () => {
    server = createServer((request, response) => response.end(`for ${request.headers.host}`));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    ({ port } = server.address() as AddressInfo); // listening on TCP, so it is an address with a port
  });
  afterAll(() => server.close());

  test("is connected to at the address that was checked", async () => {
    let asked = 0;
    const rebinding: GuardRules["resolve"] = async () => (++asked === 1 ? ["127.0.0.1"] : ["203.0.113.1"]);
    const pinned = await guardUrl(`http://rebind.example:${port}/`, { from: "loopback", resolve: rebinding });
    const body = await new Promise<string>((resolve, reject) => {
      get(pinned.url, { agent: false, lookup: pinnedLookup(pinned) }, (response) =>
        response.setEncoding("utf8").on("data", resolve),
      ).on("error", reject);
    });
    expect(body).toBe(`for rebind.example:${port}`);
    expect(asked).toBe(1);
  });

  test("resolves no other name", async () => {
    const pinned = await guardUrl("http://127.0.0.1/", from("loopback"));
    const error = await new Promise((resolve) => {
      get(`http://rebind.example:${port}/`, { agent: false, lookup: pinnedLookup(pinned) }, () => resolve("connected")).on(
        "error",
        resolve,
      );
    });
    expect(error).toMatchObject({ code: "forbidden" });
  });
});

test("resolveByDns() uses the system resolver", async () => {
  expect(await resolveByDns("localhost")).toEqual(expect.arrayContaining([expect.stringMatching(/^(127\.0\.0\.1|::1)$/)]));
  await expect(resolveByDns("no.such.name.invalid")).rejects.toMatchObject({ code: "unavailable" });
});
