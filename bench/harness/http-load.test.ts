import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterAll, expect, it } from "vitest";
import { openSocket, type RequestTemplate, runHttpTurns } from "./http-load.js";

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.closeAllConnections();
});

/** Counts its requests and its connections, and answers after this time. */
async function startEcho(counts: { requests: number; connections: number }, afterMs = 0): Promise<RequestTemplate> {
  const server = createServer((request, response) => {
    counts.requests++;
    const answer = () => response.end("the end");
    request.on("data", () => undefined).on("end", () => (afterMs === 0 ? answer() : setTimeout(answer, afterMs)));
  });
  server.on("connection", () => counts.connections++);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  return { port, path: "/", headers: {}, body: "number 00000", counter: "00000", marker: "the end" };
}

it("calls all servers of a slice, counts what each answered, and keeps the connections for the next", async () => {
  const [first, second] = [
    { requests: 0, connections: 0 },
    { requests: 0, connections: 0 },
  ];
  const templates = [await startEcho(first), await startEcho(second)];
  const slices = await runHttpTurns({ templates, connections: 2, sliceMs: 1 });
  expect(slices.map(({ completed }) => completed)).toEqual([first.requests, second.requests]);
  expect(slices.every(({ counted, windowMs }) => counted > 0 && windowMs >= 20)).toBe(true);
  const before = first.requests;
  const [again] = await runHttpTurns({ templates, connections: 2, sliceMs: 1 });
  expect(again?.completed).toBe(first.requests - before);
  expect([first.connections, second.connections]).toEqual([2, 2]);
});

it("counts two answers of every connection, however many come at once", async () => {
  const CONNECTIONS = 24;
  // Later than the least length of a turn.
  const template = await startEcho({ requests: 0, connections: 0 }, 20);
  const [slice] = await runHttpTurns({ templates: [template], connections: CONNECTIONS, sliceMs: 1 });
  // There and back: two turns.
  expect(slice?.counted).toBe(2 * 2 * CONNECTIONS);
});

it("opens connections again that were closed during the turns of others", async () => {
  const counts = { requests: 0, connections: 0 };
  const templates = [await startEcho(counts), await startEcho(counts)];
  const sockets: { readonly port: number; readonly socket: Socket }[] = [];
  const closed: boolean[] = [];
  // Over at once: there and back once.
  const slices = await runHttpTurns(
    { templates, connections: 1, sliceMs: 0 },
    {
      async open(port) {
        const socket = await openSocket(port);
        sockets.push({ port, socket });
        return socket;
      },
      async pump(socket, { port }, budget) {
        closed.push(socket.destroyed);
        budget.record(performance.now());
        for (const other of sockets) if (other.port !== port) other.socket.destroy();
      },
    },
  );
  expect(slices.map(({ completed }) => completed)).toEqual([2, 2]);
  expect(closed).toEqual([false, false, false, false]);
  expect(sockets).toHaveLength(4);
  for (const { socket } of sockets) socket.destroy();
});
