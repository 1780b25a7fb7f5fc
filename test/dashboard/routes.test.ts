import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bearerTokens } from "../../src/public/auth.js";
import { type ServedPage, servePage, TOKEN } from "./served-page.js";

describe("the routes of the page", () => {
  let served: ServedPage;
  beforeEach(async () => {
    served = await servePage();
  });
  afterEach(() => served.close());

  const post = (path: string, headers: Record<string, string>, body = ""): Promise<globalThis.Response> =>
    fetch(served.url + path, { method: "POST", headers, ...(body === "" ? {} : { body }) });

  it("serves page, scripts and styles with content types, a validator and security headers", async () => {
    const wanted = {
      "": "text/html",
      "assets/main.js": "text/javascript",
      "assets/frame.css": "text/css",
      "assets/icon.svg": "image/svg+xml",
    };
    for (const [name, type] of Object.entries(wanted)) {
      const response = await fetch(`${served.url}/koine/${name}`);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toContain(type);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("referrer-policy")).toBe("no-referrer");
      const again = await fetch(`${served.url}/koine/${name}`, {
        headers: { "if-none-match": response.headers.get("etag") ?? "" },
      });
      expect(again.status).toBe(304);
    }
  });

  it("serves plain JavaScript: no types, and only relative imports", async () => {
    const response = await fetch(`${served.url}/koine/assets/main.js`);
    const imports = [...(await response.text()).matchAll(/^import .* from "(.*)";$/gm)].map(([, from]) => from ?? "");
    expect(imports.length).toBeGreaterThan(10);
    expect(imports.filter((from) => !/^\.\/[a-z-]+\.js$/.test(from))).toEqual([]);
  });

  it.each(["../routes.ts", "..%2froutes.ts", "main.ts", "nothing.js"])("has no file %s", async (name) => {
    expect((await fetch(`${served.url}/koine/assets/${name}`)).status).toBe(404);
  });

  it("redirects to the page, and answers HEAD without a body", async () => {
    const moved = await fetch(`${served.url}/koine`, { redirect: "manual" });
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "koine/"]);
    const head = await fetch(`${served.url}/koine/api/state`, { method: "HEAD", headers: { "x-koine-token": TOKEN } });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  it("streams the whole state first, then only changes, and releases readers that leave", async () => {
    const stop = new AbortController();
    const response = await fetch(`${served.url}/koine/api/state/feed`, {
      signal: stop.signal,
      headers: { "x-koine-token": TOKEN },
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = (await reader?.read())?.value ?? "";
    expect(Object.keys(JSON.parse(first.slice(first.indexOf("{"))))).toEqual(Object.keys(served.console.state()));
    served.console.change({ title: "another name" });
    expect((await reader?.read())?.value).toBe('event: state\ndata: {"title":"another name"}\n\n');
    expect(served.console.listeners).toBe(1);
    stop.abort();
    await expect.poll(() => served.console.listeners).toBe(0);
  });

  it("requires the token and its own origin for actions", async () => {
    const own = { origin: served.url, "x-koine-token": TOKEN };
    const wrong = [
      [401, { origin: served.url }],
      [401, { origin: served.url, "x-koine-token": `${TOKEN}x` }],
      [403, { "x-koine-token": TOKEN }],
      [403, { origin: "http://elsewhere.example", "x-koine-token": TOKEN }],
      [403, { origin: "null", "x-koine-token": TOKEN }],
    ] as const;
    for (const [status, headers] of wrong) expect((await post("/koine/api/nodes/booking/kill", headers)).status).toBe(status);
    expect(served.console.acts).toEqual([]);
    expect((await post("/koine/api/nodes/booking/kill", own)).status).toBe(204);
    expect(served.console.acts).toEqual(["kill booking"]);
  });

  it("offers only the actions of a node", async () => {
    const own = { origin: served.url, "x-koine-token": TOKEN };
    const answers = [
      "nodes/nobody/kill",
      "nodes/booking/rename",
      "nodes/booking/kill/twice",
      "nodes/notary/kill",
      "nodes/%ff/kill",
    ];
    const statuses = await Promise.all(answers.map(async (path) => (await post(`/koine/api/${path}`, own)).status));
    expect(statuses).toEqual([404, 404, 404, 409, 404]);
    expect(served.console.acts).toEqual([]);
  });

  it("answers a message with JSON lines, and a failure with a last line", async () => {
    const own = { origin: served.url, "x-koine-token": TOKEN, "content-type": "application/json" };
    const message = { node: "booking", way: "acp@0.2/REST", text: "hello", stream: true };
    const answer = await post("/koine/api/send", own, JSON.stringify(message));
    const lines = (await answer.text()).trim().split("\n");
    expect(JSON.parse(lines[1] ?? "")).toEqual({ event: { kind: "message", text: "You said: hello", traceId: "trace-1" } });
    served.console.answer = async function* () {
      yield { kind: "status" };
      throw new Error("inner words that stay inside");
    };
    const failed = await post("/koine/api/send", own, JSON.stringify(message));
    const last = (await failed.text()).trim().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toEqual({ error: { code: "internal", message: "the agent failed unexpectedly" } });
  });

  it.each([
    [400, "nonsense"],
    [400, JSON.stringify({ node: "booking", way: "x", text: "  ", stream: true })],
    [400, JSON.stringify({ node: "booking", way: "x", text: "hi", stream: "yes" })],
    [413, JSON.stringify({ node: "booking", way: "x", text: "a".repeat(300_000), stream: true })],
  ])("refuses with %i what is not a message", async (status, body) => {
    const own = { origin: served.url, "x-koine-token": TOKEN, "content-type": "application/json" };
    expect((await post("/koine/api/send", own, body)).status).toBe(status);
    expect(served.console.sent).toEqual([]);
  });
});

describe("read access", () => {
  const OPEN = ["/koine/", "/koine/assets/main.js"];
  const CLOSED = ["/koine/api/state", "/koine/api/state/feed", "/koine/api/tasks", "/koine/api/session", "/health"];
  const statusOf = async (url: string, headers: Record<string, string> = {}): Promise<number> => {
    const response = await fetch(url, { headers });
    await response.body?.cancel();
    return response.status;
  };

  it("needs the token, except for the files of the page, which hold no data", async () => {
    const served = await servePage();
    try {
      for (const path of OPEN) expect([path, await statusOf(served.url + path)]).toEqual([path, 200]);
      for (const path of CLOSED) {
        expect([path, await statusOf(served.url + path)]).toEqual([path, 401]);
        expect([path, await statusOf(served.url + path, { "x-koine-token": `${TOKEN}x` })]).toEqual([path, 401]);
        expect([path, await statusOf(served.url + path, { "x-koine-token": TOKEN })]).toEqual([path, 200]);
        expect([path, await statusOf(served.url + path, { authorization: `Bearer ${TOKEN}` })]).toEqual([path, 200]);
      }
      const details = await (await fetch(`${served.url}/health`, { headers: { "x-koine-token": TOKEN } })).json();
      expect(details).toMatchObject({ status: "ok", agents: [{ name: "echo", status: "ok" }] });
    } finally {
      await served.close();
    }
  });

  it("is not on the callers' port, unless that is configured by name, and then with the same token", async () => {
    for (const listener of ["own", "callers"] as const) {
      const served = await servePage(undefined, { listener });
      try {
        const there = listener === "callers" ? 200 : 404;
        for (const path of CLOSED.slice(0, -1)) {
          expect([path, await statusOf(served.callersUrl + path)]).toEqual([path, there === 200 ? 401 : 404]);
          expect([path, await statusOf(served.callersUrl + path, { "x-koine-token": TOKEN })]).toEqual([path, there]);
        }
        expect(await (await fetch(`${served.callersUrl}/health`)).json()).toEqual({ status: "ok" });
      } finally {
        await served.close();
      }
    }
  });

  it("can be given to admitted callers; actions still need the token", async () => {
    const admission = bearerTokens(new Map([["ann", "0123456789abcdef"]]));
    const served = await servePage(undefined, { admission });
    const ann = { authorization: "Bearer 0123456789abcdef" };
    try {
      expect(await statusOf(`${served.url}/koine/api/state`, ann)).toBe(200);
      const kill = { method: "POST", headers: { ...ann, origin: served.url } };
      expect((await fetch(`${served.url}/koine/api/nodes/booking/kill`, kill)).status).toBe(401);
      expect(served.console.acts).toEqual([]);
    } finally {
      await served.close();
    }
  });

  it("is refused to tokens that can be guessed", async () => {
    await expect(servePage(undefined, { token: "short" })).rejects.toMatchObject({ code: "invalid_message" });
  });
});
