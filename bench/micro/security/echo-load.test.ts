import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { connectEcho, type EchoConnection } from "./echo-load.js";
import { blankMessage, numberMessage } from "./workload.js";

const WINDOW = { rampMs: 0, windowMs: 5, minAnswers: 50 };
const ORDER = { bytes: 300, inFlight: 1, window: WINDOW };

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

async function connect(port: number): Promise<EchoConnection> {
  const connection = await connectEcho(port);
  open.push(connection);
  return connection;
}

/** Calls `onText` with every message; returns the port. */
async function startServer(onText: (socket: WebSocket, text: string) => void): Promise<number> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  open.push(server);
  server.on("connection", (socket) => socket.on("message", (data) => onText(socket, data.toString())));
  await new Promise((resolve) => server.once("listening", resolve));
  return (server.address() as AddressInfo).port; // bound to TCP
}

describe("the messages", () => {
  test("have exactly the length that is wanted, and end with their number", () => {
    for (const bytes of [300, 64 * 1024]) {
      const message = blankMessage(bytes);
      numberMessage(message, 1_234_567);
      expect(message).toHaveLength(bytes);
      expect(message.toString().slice(-12)).toMatch(/\D0001234567$/);
    }
  });
});

describe("connectEcho()", () => {
  test.each([1, 8])("with %d in flight every message is sent once and every answer counted", async (inFlight) => {
    const seen: string[] = [];
    const unanswered: string[] = [];
    let most = 0;
    const port = await startServer((socket, text) => {
      seen.push(text);
      unanswered.push(text);
      most = Math.max(most, unanswered.length);
      // Answers together, as soon as nothing more can come.
      if (unanswered.length === inFlight || seen.length > 40) for (const each of unanswered.splice(0)) socket.send(each);
    });
    const { counted, completed } = await (await connect(port)).run({ bytes: 300, inFlight, window: WINDOW });
    expect(counted).toBeGreaterThanOrEqual(50);
    expect(completed).toBe(seen.length);
    expect(new Set(seen).size).toBe(seen.length);
    expect(most).toBe(inFlight);
  });

  test("runs any number of times, and closes with the handshake", async () => {
    const codes = new Map<WebSocket, number>();
    const port = await startServer((socket, text) => {
      if (!codes.has(socket)) socket.once("close", (code) => codes.set(socket, code));
      codes.set(socket, 0);
      socket.send(text);
    });
    const connection = await connect(port);
    for (const bytes of [300, 64 * 1024]) await connection.run({ bytes, inFlight: 2, window: WINDOW });
    await connection.close();
    await connection.close();
    await expect.poll(() => [...codes.values()]).toEqual([1005]); // RFC 6455 §7.1.5: a close frame without a code
  });

  test.each<[string, (socket: WebSocket, text: string) => void]>([
    ["another text", (socket, text) => socket.send(`${text.slice(0, -1)}x`)],
    ["the text as bytes", (socket, text) => socket.send(Buffer.from(text))],
  ])("%s is not an answer", async (_, answer) => {
    const port = await startServer(answer);
    const connection = await connect(port);
    await expect(connection.run(ORDER)).rejects.toThrow("the answer is not the message that was sent");
  });

  test("a session that the server closes fails this run and the next", async () => {
    const port = await startServer((socket) => socket.close(1008, "enough"));
    const connection = await connect(port);
    await expect(connection.run(ORDER)).rejects.toThrow("the server closed the session with 1008 enough");
    await expect(connection.run(ORDER)).rejects.toThrow("the server closed the session before this run");
  });

  test("a server that is not there is an error", async () => {
    const port = await startServer(() => {});
    for (const each of open.splice(0)) each.close();
    await expect(connectEcho(port)).rejects.toThrow("ECONNREFUSED");
  });
});
