import { describe, expect, it } from "vitest";
import { AgentError, CancelSource, type JsonObject, startCall } from "../../envelope/index.js";
import type { HttpResponse, Link } from "../../transport/exchange.js";
import { createClientContext } from "../client-context.js";
import { discover, probe } from "./discover.js";

const contextTo = (link: Link) => createClientContext({ link, ids: { now: () => 0, newId: () => "id" } });

const ECHO = "---\nname: Echo\ndescription: ECHO protocol\nmultiround: false\n---\nECHO the JSON body back.\n";
/** Both computed by the library. */
const ECHO_HASH = "L9xl1shodRYEKdIIT3ydYkazG8M=";
const ECHO_URI =
  "data:text/plain;charset=utf-8,---%0Aname%3A%20Echo%0Adescription%3A%20ECHO%20protocol%0Amultiround%3A%20false%0A---%0AECHO%20the%20JSON%20body%20back.%0A";

/** A server by its paths; `DELETE` is the answer to a probe. */
function serving(paths: { readonly [path: string]: JsonObject | string | HttpResponse }) {
  const requests: string[] = [];
  const link: Link = {
    async exchange({ method, path, headers }) {
      requests.push(`${method} ${path.replace(/[0-9a-f-]{36}$/, "{id}")}`);
      const found = paths[method === "DELETE" ? "DELETE" : path];
      if (found === undefined) return { status: 404, headers: {}, body: "<!doctype html>" };
      if (typeof found === "string") return { status: 200, headers: {}, body: found };
      if ("headers" in found)
        return headers["if-none-match"] === '"1"' ? { status: 304, headers: {}, body: undefined } : (found as HttpResponse); // only responses have headers
      return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(found) };
    },
    close: async () => undefined,
  };
  const ask = () => probe(contextTo(link), "http://peer.example", startCall());
  return { asked: requests, find: (url = "http://peer.example") => discover(contextTo(link), url, startCall()), ask, link };
}

const OWN = { koine: 1, name: "echo", description: "echoes", version: "1.0.0", protocols: {} } as const;
const SUCCESS = { status: "success" } as const;

describe("discover()", () => {
  it("detects the library by a request without side effects, and never sends a message", async () => {
    const { find, ask, asked: requests } = serving({ DELETE: SUCCESS });
    await expect(find()).resolves.toBeUndefined();
    expect(requests.splice(0)).toEqual(["GET /.well-known/agora", "GET /.wellknown", "GET /wellknown"]);
    await expect(ask()).resolves.toMatchObject({
      proved: true,
      peers: [{ url: "http://peer.example", version: "0.2", binding: "HTTP" }],
    });
    expect(requests).toEqual(["DELETE /conversations/{id}"]);
  });

  it("reads the Koine document, with the texts it lists on the same host", async () => {
    const source = `http://peer.example/protocols/${encodeURIComponent(ECHO_HASH)}`;
    const protocols = { [ECHO_HASH]: { sources: [source], name: "Echo", description: "ECHO protocol", skill: "echo" } };
    const { find } = serving({
      "/.well-known/agora": { ...OWN, idempotentSend: true, idempotencyWindowMs: 5, url: "http://peer.example/agora", protocols },
      [`/protocols/${encodeURIComponent(ECHO_HASH)}`]: ECHO,
      DELETE: SUCCESS,
    });
    const found = await find();
    expect(found).toMatchObject({ proved: true, peers: [{ url: "http://peer.example/agora" }] });
    expect(found?.peers[0]?.card).toMatchObject({
      name: "echo",
      description: "echoes",
      version: "1.0.0",
      capabilities: { idempotentSend: true, idempotencyWindowMs: 5, streaming: false },
      skills: [{ id: "echo", name: "Echo", document: ECHO }],
    });
  });

  for (const [what, path, document] of [
    ["the specification", "/.wellknown", { [ECHO_HASH]: [ECHO_URI] }],
    ["the demonstration", "/wellknown", { status: "success", protocols: { [ECHO_HASH]: [ECHO_URI] } }],
  ] as const)
    it(`reads the list of ${what}, which needs no conversations`, async () => {
      const { find } = serving({ [path]: document });
      const found = await find();
      expect(found).toMatchObject({ proved: false, peers: [{ url: "http://peer.example" }] });
      expect(found?.peers[0]?.card.skills).toMatchObject([{ id: ECHO_HASH, document: ECHO }]);
    });

  it("accepts no text with another hash, and fetches none from other hosts", async () => {
    const protocols = { [ECHO_HASH]: { sources: ["http://other.example/x", `${ECHO_URI}tampered`, "http://peer.example/lies"] } };
    const { find, asked: requests } = serving({
      "/.well-known/agora": { ...OWN, protocols },
      "/lies": "something else",
      DELETE: SUCCESS,
    });
    expect((await find())?.peers[0]?.card.skills).toEqual([]);
    expect(requests).toContain("GET /lies");
    expect(requests).not.toContain("GET /x");
  });

  it("does not follow an entry to another host", async () => {
    const { find } = serving({ "/.well-known/agora": { ...OWN, url: "http://evil.example/agora" }, DELETE: SUCCESS });
    expect((await find())?.peers[0]?.url).toBe("http://peer.example/agora");
  });

  it("looks below the address first, then at the root of its host", async () => {
    const { find, asked: requests } = serving({ "/.well-known/agora": OWN, DELETE: SUCCESS });
    expect((await find("http://peer.example/some/agent"))?.peers[0]?.url).toBe("http://peer.example/agora");
    expect(requests[0]).toBe("GET /some/agent/.well-known/agora");
  });

  it("finds a protected Koine server, without verification", async () => {
    const closed = {
      status: 401,
      headers: { "content-type": "application/json" },
      body: '{"status":"error","message":"who are you?"}',
    };
    const { find } = serving({ "/.well-known/agora": OWN, DELETE: closed });
    await expect(find()).resolves.toMatchObject({
      proved: false,
      evidence: [expect.any(String), expect.stringContaining("who are you?")],
    });
  });

  it("finds nothing if an object or a success is ambiguous", async () => {
    await expect(serving({ "/.wellknown": {} }).find()).resolves.toBeUndefined();
    await expect(serving({ "/.wellknown": { hello: [] } }).find()).resolves.toBeUndefined();
    await expect(serving({ "/.well-known/agora": { koine: 1, protocols: {} } }).find()).resolves.toBeUndefined();
    await expect(serving({ DELETE: { ok: true } }).find()).resolves.toBeUndefined();
  });

  it("revalidates a previous result by its ETag", async () => {
    const document = { status: 200, headers: { etag: '"1"' }, body: JSON.stringify(OWN) };
    const { find, asked: requests, link } = serving({ "/.well-known/agora": document, DELETE: SUCCESS });
    const known = await find();
    requests.length = 0;
    const again = await discover(contextTo(link), "http://peer.example", startCall(), { known });
    expect(again?.peers).toEqual(known?.peers);
    expect(again?.evidence.at(-1)).toMatch(/has not changed$/);
    expect(requests).toEqual(["GET /.well-known/agora"]);
  });

  it("passes the card to the check before it is used", async () => {
    const { link, asked: requests } = serving({ "/.well-known/agora": OWN, DELETE: SUCCESS });
    const check = (): never => {
      throw new AgentError("bad_signature", "not trusted");
    };
    await expect(discover(contextTo(link), "http://peer.example", startCall(), { check })).rejects.toMatchObject({
      code: "bad_signature",
    });
    expect(requests).not.toContain("DELETE /conversations/{id}");
  });

  it("is cancelled with its call", async () => {
    const cancel = new CancelSource();
    const link: Link = {
      async exchange() {
        cancel.cancel(new AgentError("deadline", "time is up"));
        throw cancel.reason;
      },
      close: async () => undefined,
    };
    await expect(discover(contextTo(link), "http://peer.example", startCall({ cancel }))).rejects.toMatchObject({
      code: "deadline",
    });
  });
});
