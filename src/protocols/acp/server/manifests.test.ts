import { afterEach, describe, expect, test } from "vitest";
import { Benches, guarded, runOf } from "../../../../test/wires/acp-bench.js";
import { acp } from "../index.js";
import { formatYaml } from "./manifests.js";

const benches = new Benches(acp);
const bench = benches.open;
afterEach(benches.close);

describe("manifests", () => {
  test("lists all agents, or a requested page", async () => {
    const on = bench();
    const names = async (query: string): Promise<readonly string[]> =>
      (await on.get(`/agents${query}`)).body.agents.map(({ name }: { name: string }) => name);
    expect(await names("")).toEqual(["worker", "Other.Agent"]);
    expect(await names("?limit=1")).toEqual(["worker"]);
    expect(await names("?limit=1&offset=1")).toEqual(["Other.Agent"]);
    expect(await names("?offset=2")).toEqual([]);
    for (const query of ["?limit=0", "?limit=1001", "?limit=x", "?offset=-1", "?limit=1&limit=2", "?limit=%zz"]) {
      const { status, body } = await on.get(`/agents${query}`);
      expect([query, status, body.code]).toEqual([query, 422, "invalid_input"]);
    }
  });

  test("one agent has the members that the SDKs require", async () => {
    const { status, body } = await bench().get("/agents/Other%2EAgent");
    expect([status, body.name, body.description]).toEqual([200, "Other.Agent", "another"]);
    expect([body.input_content_types.length > 0, body.output_content_types.length > 0]).toEqual([true, true]);
  });

  test("an unknown agent is not found, and an invalid name is rejected", async () => {
    const on = bench();
    expect(await on.get("/agents/nobody")).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await on.get("/agents/%zz")).toMatchObject({ status: 422, body: { code: "invalid_input" } });
  });

  test("ping, agents and manifests are public; runs are not", async () => {
    const on = bench(guarded);
    for (const path of ["/ping", "/agents", "/agents/worker", "/.well-known/agent.yml", "/acp/status", "/acp/capabilities"])
      expect([path, (await on.fetch(path)).status]).toEqual([path, 200]);
    expect((await on.post("/runs", runOf("hello"))).status).toBe(401);
  });

  test("ping is an empty object", async () => {
    expect(await bench().get("/ping")).toMatchObject({ status: 200, body: {} });
  });

  test("HEAD is GET without the body", async () => {
    const on = bench();
    const { body: run } = await on.post("/runs", runOf("hello"));
    for (const path of [
      "/ping",
      "/agents",
      "/agents/worker",
      `/runs/${run.run_id}`,
      `/runs/${run.run_id}/events`,
      "/acp/status",
    ]) {
      const head = await on.fetch(path, { method: "HEAD", headers: { accept: "text/event-stream" } });
      expect([path, head.status, head.headers.get("content-type"), await head.text()]).toEqual([
        path,
        200,
        "application/json",
        "",
      ]);
    }
    expect((await on.fetch("/agents/nobody", { method: "HEAD" })).status).toBe(404);
  });

  test("are revalidated by ETag", async () => {
    const on = bench();
    const { headers } = await on.get("/agents/worker");
    const again = await on.fetch("/agents/worker", { headers: { "if-none-match": headers.get("etag") ?? "" } });
    expect(again.status).toBe(304);
  });

  test("the well-known document has the members of the seed, and keeps capabilities an object", async () => {
    const { body } = await bench().get("/.well-known/agent.json");
    expect(body).toMatchObject({
      name: "worker",
      agent_id: "worker",
      endpoints: {
        message: "http://acp.example/acp/message",
        capabilities: "http://acp.example/acp/capabilities",
        status: "http://acp.example/acp/status",
        health: "http://acp.example/health",
        runs: "http://acp.example/runs",
        agents: "http://acp.example/agents",
      },
      features: { streaming: true },
    });
    expect(body).not.toHaveProperty("capabilities");
  });

  test("the manifest of the default agent is also served as YAML", async () => {
    const response = await bench().fetch("/.well-known/agent.yml");
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/yaml"]);
    const text = await response.text();
    expect(text).toContain('"name": "worker"\n');
    expect(text).toContain('"input_content_types":\n  - ');
  });
});

describe("formatYaml()", () => {
  test("writes objects and lists as blocks and scalars as in JSON", () => {
    const value = { a: "x: #y\n", list: [1, { b: null, c: [] }, ["d"]], empty: {}, yes: true };
    // As read by PyYAML 6 and by `yaml` 2: the same value.
    expect(formatYaml(value)).toBe(
      [
        '"a": "x: #y\\n"',
        '"list":',
        "  - 1",
        "  -",
        '    "b": null',
        '    "c": []',
        "  -",
        '    - "d"',
        '"empty": {}',
        '"yes": true',
        "",
      ].join("\n"),
    );
  });
});
