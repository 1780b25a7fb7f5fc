import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";
import { Http1ResponseWriter } from "./http1-response-writer.js";

const responses: ServerResponse[] = [];
const server = createServer((_request, response) => {
  responses.push(response);
  server.emit("responses");
});
afterAll(() => server.closeAllConnections());

test("what is written in one turn of the event loop leaves at its end, whole", async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: "127.0.0.1", port }).end();
  const answered = once(sent, "response");
  await once(server, "responses");
  const [response] = responses;
  const socket = response?.socket;
  if (response === undefined || socket === null || socket === undefined) throw new Error("no request came");
  const writer = new Http1ResponseWriter(response, false);
  writer.open({ status: 200, headers: {}, body: "" }, { drained: () => undefined, broken: () => undefined });
  writer.write("one ");
  const held = socket.writableLength;
  await Promise.resolve();
  await new Promise<void>((resolve) => process.nextTick(resolve));
  expect(held).toBeGreaterThan(0);
  expect(socket.writableLength).toBe(held);
  writer.write("two ");
  await new Promise((resolve) => setImmediate(resolve));
  expect(socket.writableCorked).toBe(0);
  expect(socket.writableLength).toBe(0);
  writer.write("three");
  writer.end(undefined, 1_000);
  const [answer] = await answered;
  let text = "";
  for await (const chunk of answer) text += String(chunk);
  expect(text).toBe("one two three");
});
