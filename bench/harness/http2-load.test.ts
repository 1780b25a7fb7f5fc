import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterAll, expect, it } from "vitest";
import { type RequestTemplate, runHttpLoad, runHttpTurns } from "./http-load.js";
import { openHttp2, pumpHttp2 } from "./http2-load.js";

const HTTP2 = { open: openHttp2, pump: pumpHttp2 };
const servers: Http2Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** Node's own server reads the frames and the fields. */
async function startEcho(seen: string[], answer = "the end"): Promise<RequestTemplate> {
  const server = createServer();
  server.on("stream", (stream, headers) => {
    let body = "";
    stream.setEncoding("utf8").on("data", (piece: string) => {
      body += piece;
    });
    stream.on("end", () => {
      seen.push(`${headers[":method"]} ${headers[":path"]} ${headers["x-one"]} ${headers["x-two"]} ${body}`);
      stream.respond({ ":status": 200 });
      stream.end(answer);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    path: "/some",
    headers: { "X-One": "1", "x-two": "2" },
    body: "number 00000",
    counter: "00000",
    marker: "the end",
  };
}

it("sends the same fields in every request of a connection, and a number of its own in each", async () => {
  const seen: string[] = [];
  const template = await startEcho(seen);
  const [slice] = await runHttpTurns({ templates: [template], connections: 2, sliceMs: 1 }, HTTP2);
  const [again] = await runHttpTurns({ templates: [template], connections: 2, sliceMs: 1 }, HTTP2);
  expect(seen.length).toBeGreaterThan(4);
  expect((slice?.completed ?? 0) + (again?.completed ?? 0)).toBe(seen.length);
  expect(seen.filter((line) => !/^POST \/some 1 2 number \d{5}$/.test(line))).toEqual([]);
  expect(new Set(seen).size).toBe(seen.length);
});

it("fails for an answer without the marker", async () => {
  const template = await startEcho([], "something else");
  await expect(runHttpLoad(template, 1, { rampMs: 0, windowMs: 1 }, HTTP2)).rejects.toThrow("does not hold the marker");
});
