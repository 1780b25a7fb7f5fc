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
    const routes = dashboardRoutes(new FakeConsole(), { token: TOKEN });
    served = await serve(echo, { admin: { token: TOKEN, routes }, limits: { drainMs: 0 } });
  });
  afterEach(() => served.close());

  function statusOf(method: string, path: string, headers: Record<string, string>): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const asking = request(`${served.admin?.url}${path}`, { method, headers }, (response) => {
        response.destroy();
        resolve(response.statusCode);
      });
      asking.on("error", reject).end();
    });
  }

  const READS = ["/koine/api/state", "/koine/api/state/feed", "/koine/api/tasks", "/koine/api/session"];

  it("other users of this machine cannot read without the token", async () => {
    for (const path of READS) expect([path, await statusOf("GET", path, {})]).toEqual([path, 401]);
    expect(await statusOf("POST", "/koine/api/nodes/weather/kill", { origin: served.admin?.url ?? "" })).toBe(401);
  });

  it("a name rebound to this machine cannot read, not even with the token", async () => {
    const rebound = { host: "rebound.example", "x-koine-token": TOKEN };
    for (const path of ["/koine/", ...READS]) expect([path, await statusOf("GET", path, rebound)]).toEqual([path, 403]);
  });

  it("requests through a proxy need the token", async () => {
    for (const forwarded of [{ "x-forwarded-for": "127.0.0.1" }, { forwarded: "for=127.0.0.1" }, { via: "1.1 proxy" }])
      for (const path of READS) expect([path, await statusOf("GET", path, forwarded)]).toEqual([path, 401]);
  });

  it("a page of another origin with the token can neither read nor act", async () => {
    const foreign = { origin: "http://elsewhere.example", "x-koine-token": TOKEN };
    for (const path of READS) expect([path, await statusOf("GET", path, foreign)]).toEqual([path, 403]);
    expect(await statusOf("POST", "/koine/api/nodes/weather/kill", foreign)).toBe(403);
  });
});
