import { describe, expect, it } from "vitest";
import { AgentError, CancelSource, type JsonObject, startCall } from "../../envelope/index.js";
import type { HttpResponse, Link } from "../../transport/exchange.js";
import { discover, probe } from "./discover.js";

const ECHO = "---\nname: Echo\ndescription: ECHO protocol\nmultiround: false\n---\nECHO the JSON body back.\n";
/** Both by the library's own functions. */
const ECHO_HASH = "L9xl1shodRYEKdIIT3ydYkazG8M=";
const ECHO_URI =
  "data:text/plain;charset=utf-8,---%0Aname%3A%20Echo%0Adescription%3A%20ECHO%20protocol%0Amultiround%3A%20false%0A---%0AECHO%20the%20JSON%20body%20back.%0A";

/** A server by its paths; `DELETE` is the answer to a probe. */
function serving(paths: { readonly [path: string]: JsonObject | string | HttpResponse }) {
  const asked: string[] = [];
  const link: Link = {
    async exchange({ method, path, headers }) {
      asked.push(`${method} ${path.replace(/[0-9a-f-]{36}$/, "{id}")}`);
      const found = paths[method === "DELETE" ? "DELETE" : path];
      if (found === undefined) return { status: 404, headers: {}, body: "<!doctype html>" };
      if (typeof found === "string") return { status: 200, headers: {}, body: found };
      if ("headers" in found)
        return headers["if-none-match"] === '"1"' ? { status: 304, headers: {}, body: undefined } : (found as HttpResponse); // only responses have headers
      return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(found) };
    },
    close: async () => undefined,
  };
  const ask = () => probe(link, "http://peer.example", startCall());
  return { asked, find: (url = "http://peer.example") => discover(link, url, startCall()), ask, link };
}

const OWN = { koine: 1, name: "echo", description: "echoes", version: "1.0.0", protocols: {} } as const;
const SUCCESS = { status: "success" } as const;

describe("discover()", () => {
  it("finds the library by its one harmless answer, and never sends a message", async () => {
    const { find, ask, asked } = serving({ DELETE: SUCCESS });
    await expect(find()).resolves.toBeUndefined();
    expect(asked.splice(0)).toEqual(["GET /.well-known/agora", "GET /.wellknown", "GET /wellknown"]);
    await expect(ask()).resolves.toMatchObject({
      proved: true,
      peers: [{ url: "http://peer.example", version: "0.2", binding: "HTTP" }],
    });
    expect(asked).toEqual(["DELETE /conversations/{id}"]);
  });

  it("reads our own document, with the texts it lists at the same host", async () => {
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

  it("takes no text that has another hash, and fetches none from elsewhere", async () => {
    const protocols = { [ECHO_HASH]: { sources: ["http://other.example/x", `${ECHO_URI}tampered`, "http://peer.example/lies"] } };
    const { find, asked } = serving({ "/.well-known/agora": { ...OWN, protocols }, "/lies": "something else", DELETE: SUCCESS });
    expect((await find())?.peers[0]?.card.skills).toEqual([]);
    expect(asked).toContain("GET /lies");
    expect(asked).not.toContain("GET /x");
  });

  it("does not follow an entry to another host", async () => {
    const { find } = serving({ "/.well-known/agora": { ...OWN, url: "http://evil.example/agora" }, DELETE: SUCCESS });
    expect((await find())?.peers[0]?.url).toBe("http://peer.example/agora");
  });

  it("looks below the address first, and at the root of its host then", async () => {
    const { find, asked } = serving({ "/.well-known/agora": OWN, DELETE: SUCCESS });
    expect((await find("http://peer.example/some/agent"))?.peers[0]?.url).toBe("http://peer.example/agora");
    expect(asked[0]).toBe("GET /some/agent/.well-known/agora");
  });

  it("finds one of ours that wants credentials first, without a proof", async () => {
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

  it("finds nothing where an object or a success may be anybody's", async () => {
    await expect(serving({ "/.wellknown": {} }).find()).resolves.toBeUndefined();
    await expect(serving({ "/.wellknown": { hello: [] } }).find()).resolves.toBeUndefined();
    await expect(serving({ "/.well-known/agora": { koine: 1, protocols: {} } }).find()).resolves.toBeUndefined();
    await expect(serving({ DELETE: { ok: true } }).find()).resolves.toBeUndefined();
  });

  it("confirms what it knew by the validator alone", async () => {
    const document = { status: 200, headers: { etag: '"1"' }, body: JSON.stringify(OWN) };
    const { find, asked, link } = serving({ "/.well-known/agora": document, DELETE: SUCCESS });
    const known = await find();
    asked.length = 0;
    const again = await discover(link, "http://peer.example", startCall(), { known });
    expect(again?.peers).toEqual(known?.peers);
    expect(again?.evidence.at(-1)).toMatch(/has not changed$/);
    expect(asked).toEqual(["GET /.well-known/agora"]);
  });

  it("shows the card to whoever checks it before anything the card says is acted on", async () => {
    const { link, asked } = serving({ "/.well-known/agora": OWN, DELETE: SUCCESS });
    const check = (): never => {
      throw new AgentError("bad_signature", "not trusted");
    };
    await expect(discover(link, "http://peer.example", startCall(), { check })).rejects.toMatchObject({ code: "bad_signature" });
    expect(asked).not.toContain("DELETE /conversations/{id}");
  });

  it("stops with its call", async () => {
    const cancel = new CancelSource();
    const link: Link = {
      async exchange() {
        cancel.cancel(new AgentError("deadline", "time is up"));
        throw cancel.reason;
      },
      close: async () => undefined,
    };
    await expect(discover(link, "http://peer.example", startCall({ cancel }))).rejects.toMatchObject({ code: "deadline" });
  });
});
