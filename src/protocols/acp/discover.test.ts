import { describe, expect, test } from "vitest";
import { AgentError, startCall } from "../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../transport/exchange.js";
import { createClientContext } from "../client-context.js";
import { discover } from "./discover.js";

const json = (body: unknown, status = 200, headers = {}): HttpResponse => ({ status, headers, body: JSON.stringify(body) });
const contextTo = (answer: (request: HttpRequest) => HttpResponse) =>
  createClientContext({
    link: { exchange: answer, close: async () => undefined },
    ids: { now: () => 0, newId: () => "id" },
  });

/** A server as the SDK creates it: every optional member is null. */
function server(agents: readonly unknown[], base = ""): (request: HttpRequest) => HttpResponse {
  return ({ path }) => {
    if (path === `${base}/ping`) return json({});
    if (path === `${base}/agents`) return json({ agents });
    const found = agents.find((agent) => path === `${base}/agents/${(agent as { name?: string }).name}`);
    return found === undefined ? json({ code: "not_found", message: "Agent not found", data: null }, 404) : json(found);
  };
}
const manifest = (name: string): object => ({
  name,
  description: null,
  metadata: {
    annotations: null,
    capabilities: [{ name: "Parts", description: "of every kind" }],
    tags: ["Canvas"],
    author: null,
  },
  input_content_types: ["text/plain"],
  output_content_types: ["*/*"],
});

describe("a server", () => {
  test("of one agent resolves to that agent", async () => {
    const found = await discover(contextTo(server([manifest("echo")])), "http://acp.example/", startCall());
    expect(found).toMatchObject({
      peers: [{ url: "http://acp.example", version: "0.2", binding: "REST", card: { name: "echo", inputModes: ["text/plain"] } }],
      proved: true,
    });
    expect(found?.peers[0]?.card.skills).toEqual([
      { id: "Parts", name: "Parts", description: "of every kind", tags: ["Canvas"] },
    ]);
  });

  test("of several resolves to the first, and reports it", async () => {
    const found = await discover(contextTo(server([manifest("a"), manifest("b")])), "http://acp.example", startCall());
    expect(found?.peers.map(({ card }) => card.name)).toEqual(["a"]);
    expect(found?.evidence.join()).toContain("the first, a, is used");
  });

  test("keeps the path of a mounted server", async () => {
    const found = await discover(contextTo(server([manifest("a")], "/base")), "http://acp.example/base", startCall());
    expect(found?.peers[0]?.url).toBe("http://acp.example/base");
  });

  test("with one invalid manifest has the others", async () => {
    const found = await discover(
      contextTo(server([{ description: "nameless" }, manifest("b")])),
      "http://acp.example",
      startCall(),
    );
    expect(found?.peers[0]?.card.name).toBe("b");
    expect(found?.evidence.join()).toContain("1 of them cannot be read: name is missing");
  });
});

describe("an address that names an agent", () => {
  test("resolves to that agent", async () => {
    const agents = [manifest("a"), manifest("b")];
    const found = await discover(contextTo(server(agents, "/base")), "http://acp.example/base/agents/b", startCall());
    expect(found?.peers[0]).toMatchObject({ url: "http://acp.example/base", card: { name: "b" } });
  });

  test("resolves to nothing if the server has no such agent", async () => {
    expect(await discover(contextTo(server([manifest("a")])), "http://acp.example/agents/b", startCall())).toBeUndefined();
  });

  test("is found without verification if it requires credentials", async () => {
    const guarded = contextTo(({ path }) => (path === "/ping" ? json({}) : json("who?", 401)));
    const found = await discover(guarded, "http://acp.example/agents/b", startCall());
    expect(found).toMatchObject({ peers: [{ card: { name: "b" } }], proved: false });
  });
});

test.each<[string, (request: HttpRequest) => HttpResponse]>([
  ["HTML", () => ({ status: 200, headers: {}, body: "<html>" })],
  ["an error", () => json({ error: 1 }, 404)],
  ["another JSON", () => json({ jsonrpc: "2.0" })],
  ["an empty list", ({ path }) => json(path === "/ping" ? {} : { agents: [] })],
  ["a list without a ping", ({ path }) => (path === "/ping" ? json("no", 404) : json({ agents: [manifest("a")] }))],
])("%s belongs to another protocol", async (_, answer) => {
  expect(await discover(contextTo(answer), "http://acp.example", startCall())).toBeUndefined();
});

test("a previous result is revalidated by its ETag", async () => {
  const tagged = contextTo((request) => {
    if (request.path === "/ping") return json({});
    const known = request.headers["if-none-match"] === '"v1"';
    return known ? { status: 304, headers: {}, body: undefined } : json({ agents: [manifest("a")] }, 200, { etag: '"v1"' });
  });
  const known = await discover(tagged, "http://acp.example", startCall());
  expect(known?.etag).toBe('"v1"');
  const again = await discover(tagged, "http://acp.example", startCall(), { known });
  expect(again?.evidence.at(-1)).toBe("http://acp.example/agents has not changed");
  expect(again?.peers).toEqual(known?.peers);
});

test("a rejected card ends discovery", async () => {
  const check = (): never => {
    throw new AgentError("forbidden", "not trusted");
  };
  await expect(discover(contextTo(server([manifest("a")])), "http://acp.example", startCall(), { check })).rejects.toThrow(
    "not trusted",
  );
});
