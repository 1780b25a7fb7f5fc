import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import type { RequestTemplate } from "../../harness/http-load.js";
import { runSingleCalls, timesOf } from "./single-calls.js";

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.closeAllConnections();
});

/** Writes its name and the body of each request down, in the order in which they came, and answers when it has the whole. */
async function startNoting(name: string, calls: { readonly name: string; readonly body: string }[]): Promise<RequestTemplate> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString("latin1");
    });
    request.on("end", () => {
      calls.push({ name, body });
      response.end("the end");
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  const body = Buffer.concat([Buffer.from([0, 200, 1]), Buffer.from("00000")]);
  return { port, path: "/", headers: {}, body, counter: "00000", marker: "the end" };
}

describe("single calls", () => {
  test("call every server once per turn, each time in another order, with a new number in the same bytes", async () => {
    const calls: { name: string; body: string }[] = [];
    const templates = [await startNoting("a", calls), await startNoting("b", calls), await startNoting("c", calls)];
    const times = await runSingleCalls({ templates, calls: 4 });
    expect(times).toHaveLength(3);
    expect(times.every(({ p50Us }) => p50Us > 0)).toBe(true);
    const turns = Array.from({ length: calls.length / 3 }, (_, turn) =>
      calls.slice(3 * turn, 3 * turn + 3).map((each) => each.name),
    );
    // Two turns come before those that count.
    expect(turns).toHaveLength(6);
    expect(turns.every((turn) => new Set(turn).size === 3)).toBe(true);
    expect(new Set(turns.map((turn) => turn.join(""))).size).toBe(6);
    expect(new Set(calls.map(({ body }) => body)).size).toBe(calls.length);
    expect(calls.every(({ body }) => body.startsWith(String.fromCharCode(0, 200, 1)) && body.length === 8)).toBe(true);
  });

  test("fail on an answer without the marker", async () => {
    const template = { ...(await startNoting("a", [])), marker: "something else" };
    await expect(runSingleCalls({ templates: [template], calls: 1 })).rejects.toThrow("the end");
  });

  test("the added time is the median of differences within a turn, not the difference of medians", () => {
    const [direct, proxy] = timesOf([
      [10, 20, 90],
      [30, 100, 110],
    ]);
    expect(direct).toEqual({ p50Us: 20, addedUs: 0 });
    expect(proxy).toEqual({ p50Us: 100, addedUs: 20 });
  });
});
