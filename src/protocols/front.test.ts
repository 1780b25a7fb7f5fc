import { describe, expect, test } from "vitest";
import { type JsonObject, NO_FLOOR } from "../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../transport/exchange.js";
import { makeRequest } from "../transport/request.js";
import { protocols } from "./all.js";
import { front } from "./front.js";
import { createHost } from "./host.js";
import type { Protocol, Route } from "./protocol.js";
import { compileRoutes, pathsOverlap } from "./route-table.js";

const host = createHost({
  handler: async () => ({ kind: "done" }),
  cards: [
    {
      name: "echo",
      description: "d",
      version: "1",
      skills: [{ id: "s", name: "s", description: "s", tags: ["t"] }],
      inputModes: ["text/plain"],
      outputModes: ["text/plain"],
      capabilities: { streaming: true, push: false, extended: false, idempotentSend: false, resume: false, extensions: [] },
      security: { schemes: {}, anyOf: [] },
      interfaces: [],
    },
  ],
  ids: { now: () => 0, newId: () => "id" },
});

/** A protocol that only claims paths, and answers with its name. */
function claiming(id: string, routes: readonly Route[], members?: JsonObject): Protocol {
  const exchange = (): HttpResponse => ({ status: 200, headers: {}, body: id });
  const contributions =
    members === undefined ? [] : [{ path: "/.well-known/agent.json", vary: ["X-Kind"], members: () => members }];
  const traits = {
    streaming: false,
    tasks: false,
    resume: false,
    idempotentSend: false,
    inputTurns: false,
    binary: false,
    proofs: false,
  } as const;
  return {
    id,
    versions: ["1"],
    traits: { ...traits, signed: "none", sealed: "none", carries: [] },
    losses: [],
    routes,
    serve: () => ({ exchange, interfaces: () => [], contributions }),
    connect: () => ({ handler: async () => ({ kind: "done" }), protection: () => NO_FLOOR, close: async () => undefined }),
    discover: async () => undefined,
  };
}

const get = (path: string, headers: { readonly [name: string]: string } = {}): HttpRequest =>
  makeRequest({ method: "GET", url: `http://localhost${path}`, headers: { host: "localhost", ...headers } });

const saying = (id: string): HttpResponse => ({ status: 200, headers: {}, body: id });

/** Requests of every kind that a route condition inspects. */
function requestsFor({ method, path, when, whose }: Route): readonly HttpRequest[] {
  const kinds = [
    { headers: { "content-type": "application/json" }, body: '{"jsonrpc":"2.0","id":1,"method":"x"}' },
    { headers: { "content-type": "application/json" }, body: "{}" },
    { headers: { "content-type": "application/grpc" }, body: "" },
  ];
  return kinds
    .map(({ headers, body }) =>
      makeRequest({
        method: method === "*" ? "POST" : method,
        url: `http://localhost${path.replace("*", "name")}`,
        headers: { host: "localhost", ...headers },
        body,
      }),
    )
    .filter((request) => (when === undefined || when(request)) && (whose === undefined || whose(request)));
}

describe("front()", () => {
  test("tries the higher rank first, and the next if the first declines", async () => {
    const picky = claiming("picky", [{ method: "GET", path: "/x", rank: 5, when: ({ query }) => query === "mine" }]);
    const plain = claiming("plain", [{ method: "GET", path: "/x" }]);
    const { exchange } = front(host, [plain, picky]);
    expect((await exchange(get("/x?mine"))).body).toBe("picky");
    expect((await exchange(get("/x"))).body).toBe("plain");
  });

  test("rejects two routes that can match one request at one rank, at start", () => {
    const clashes: readonly (readonly [Route, Route])[] = [
      [
        { method: "GET", path: "/x" },
        { method: "GET", path: "/x" },
      ],
      [
        { method: "*", path: "/x" },
        { method: "POST", path: "/x" },
      ],
      [
        { method: "GET", path: "/x/*" },
        { method: "GET", path: "/x/y" },
      ],
      [
        { method: "GET", path: "/x/*" },
        { method: "GET", path: "/x/y/*" },
      ],
    ];
    for (const [one, other] of clashes) {
      expect(() => front(host, [claiming("one", [one]), claiming("other", [other])])).toThrow(
        /two routes can match one request at rank 0/,
      );
    }
  });

  test("lists the methods of a path, and reports unknown paths", async () => {
    const { exchange } = front(host, [claiming("one", [{ method: "POST", path: "/x" }])]);
    expect(await exchange(get("/x"))).toMatchObject({ status: 405, headers: { allow: "POST" } });
    expect(await exchange(get("/y"))).toMatchObject({ status: 404 });
  });

  test("merges contributions of protocols to one document, with an ETag, and rejects conflicting types at start", async () => {
    const one = claiming("one", [], { capabilities: { streaming: true }, name: "echo" });
    const { exchange } = front(host, [one, claiming("two", [], { kinds: ["two"] })]);
    const response = await exchange(get("/.well-known/agent.json"));
    expect(JSON.parse(String(response.body))).toEqual({ capabilities: { streaming: true }, name: "echo", kinds: ["two"] });
    expect(response.headers["vary"]).toBe("X-Kind");
    expect(await exchange(get("/.well-known/agent.json", { "if-none-match": response.headers["etag"] ?? "" }))).toMatchObject({
      status: 304,
    });
    expect(() => front(host, [one, claiming("two", [], { capabilities: ["streaming"] })])).toThrow(
      "two protocols define capabilities of /.well-known/agent.json, as object and as array",
    );
  });

  test("serves contributions at any path, and rejects at start those that no request could reach", async () => {
    const to = (id: string, path: string, whole = false, routes: readonly Route[] = []): Protocol => ({
      ...claiming(id, routes),
      serve: () => ({
        exchange: () => ({ status: 200, headers: {}, body: "" }),
        interfaces: () => [],
        contributions: [{ path, vary: [], whole, members: () => ({ [id]: true }) }],
      }),
    });
    const did = "/.well-known/did.json";
    const { exchange, claims } = front(host, [to("one", did), to("two", did)]);
    expect(JSON.parse(String((await exchange(get(did))).body))).toEqual({ one: true, two: true });
    expect(claims(did)).toBe(true);
    const conditional = { method: "GET", path: did, when: () => false };
    expect(await front(host, [to("one", did, false, [conditional])]).exchange(get(did))).toMatchObject({ status: 200 });
    expect(() => front(host, [to("one", did), claiming("two", [{ method: "GET", path: did }])])).toThrow(
      "one contributes to /.well-known/did.json, but a route of two answers all requests there",
    );
    expect(() => front(host, [to("one", did, true), to("two", did, true)])).toThrow(
      "one and two each define the complete /.well-known/did.json",
    );
    expect(() => front(host, [to("one", "did.json")])).toThrow('one contributes to "did.json", which is not a path');
  });

  test("waits for a complete document, and rejects at start late members of a shared one", async () => {
    const late = (whole: boolean): Protocol => ({
      ...claiming("late", []),
      serve: () => ({
        exchange: () => ({ status: 200, headers: {}, body: "" }),
        interfaces: () => [],
        contributions: [{ path: "/signed.json", vary: [], whole, members: async () => ({ signed: true }) }],
      }),
    });
    const { exchange } = front(host, [late(true)]);
    expect(JSON.parse(String((await exchange(get("/signed.json"))).body))).toEqual({ signed: true });
    expect(() => front(host, [late(false)])).toThrow("late adds late members to /signed.json, which is not its own document");
  });

  test("every pair of registered routes differs by path, method or rank", () => {
    const routes = protocols.flatMap(({ id, routes: own }) => own.map((route) => ({ id, route })));
    const tied = routes.flatMap((a, index) =>
      routes
        .slice(index + 1)
        .filter(({ route }) => pathsOverlap(a.route.path, route.path) && (a.route.rank ?? 0) === (route.rank ?? 0))
        .filter(({ route }) => a.route.method === route.method || a.route.method === "*" || route.method === "*")
        .map((b) => `${a.id} ${a.route.method} ${a.route.path} ~ ${b.id} ${b.route.method} ${b.route.path}`),
    );
    expect(tied).toEqual([]);
    expect(routes.length).toBeGreaterThan(4);
  });

  test("every set of registered protocols is served together", async () => {
    for (let set = 1; set < 2 ** protocols.length; set++) {
      const some = protocols.filter((_, index) => (set & (2 ** index)) > 0);
      const served = front(host, some);
      const health = await served.exchange(get("/health"));
      expect(JSON.parse(String(health.body))).toEqual({ status: "ok" });
      expect(served.details()).toMatchObject({ protocols: some.map(({ id }) => ({ id })) });
    }
  });

  test("every registered route leads to its own protocol, unless outranked", async () => {
    const { exchange } = front(
      host,
      protocols.map((protocol) => ({
        ...protocol,
        serve: (real) => ({ ...protocol.serve(real), exchange: () => saying(protocol.id) }),
      })),
    );
    for (const { id, routes } of protocols) {
      // Sessions are not requests: see session-intake.test.ts.
      for (const route of routes.filter(({ upgrade }) => upgrade === undefined)) {
        const answers = new Set<unknown>();
        const requests = requestsFor(route);
        if (requests.length === 0) continue; // A path that only some names lead to.
        for (const request of requests) answers.add((await exchange(request)).body);
        const outranking = protocols.filter((other) =>
          other.routes.some(({ path, rank = 0 }) => rank > (route.rank ?? 0) && pathsOverlap(path, route.path)),
        );
        const allowed = [id, ...outranking.map((other) => other.id)];
        expect([route.path, answers.has(id), [...answers].filter((each) => !allowed.includes(String(each)))]).toEqual([
          route.path,
          true,
          [],
        ]);
      }
    }
  });
});

describe("compileRoutes()", () => {
  test("matches everything below a prefix, and not the prefix without its slash", () => {
    const exchange = (): HttpResponse => ({ status: 200, headers: {}, body: "below" });
    const table = compileRoutes([{ owner: "one", route: { method: "GET", path: "/a/*" }, exchange }]);
    expect(table.find(get("/a/b/c")).map((claim) => claim.exchange)).toEqual([exchange]);
    expect(table.find(get("/a"))).toEqual([]);
    expect(table.find(get("/ab"))).toEqual([]);
  });
});
