import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dashboardRoutes } from "../../apps/dashboard/index.js";
import { agent, type Server, serve } from "../../src/index.js";
import { FakeConsole } from "./fake-console.js";
import { TOKEN } from "./served-page.js";

/** Unauthorized pages and users, over a real socket. */
describe("anonymous callers of the page", () => {
  let served: Server;
  beforeEach(async () => {
    const echo = agent({ name: "echo", description: "says it again", handle: ({ text }) => text });
    served = await serve(echo, { routes: dashboardRoutes(new FakeConsole(), { token: TOKEN }), limits: { drainMs: 0 } });
  });
  afterEach(() => served.close());

  function statusOf(method: string, path: string, headers: Record<string, string>): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const asking = request(`${served.url}${path}`, { method, headers }, (response) => {
        response.destroy();
        resolve(response.statusCode);
      });
      asking.on("error", reject).end();
    });
  }

  const READS = ["/koine/", "/koine/api/state", "/koine/api/state/feed", "/koine/api/tasks", "/koine/api/session"];

  it("local users can read", async () => {
    for (const path of READS) expect([path, await statusOf("GET", path, {})]).toEqual([path, 200]);
  });

  it("a name rebound to this machine cannot read", async () => {
    for (const path of READS) expect([path, await statusOf("GET", path, { host: "rebound.example" })]).toEqual([path, 403]);
  });

  it("requests through a proxy are not found", async () => {
    for (const forwarded of [{ "x-forwarded-for": "127.0.0.1" }, { forwarded: "for=127.0.0.1" }, { via: "1.1 proxy" }])
      for (const path of READS) expect([path, await statusOf("GET", path, forwarded)]).toEqual([path, 404]);
  });

  it("a page of another origin with the token can neither read nor act", async () => {
    const foreign = { origin: "http://elsewhere.example", "x-koine-token": TOKEN };
    for (const path of READS) expect([path, await statusOf("GET", path, foreign)]).toEqual([path, 403]);
    expect(await statusOf("POST", "/koine/api/nodes/weather/kill", foreign)).toBe(403);
  });
});
