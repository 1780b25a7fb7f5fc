import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Delivery, Hook } from "../src/protocols/requirement.js";

/** More than any check causes. */
const MOST_DELIVERIES = 1_000;
const MOST_BYTES = 1024 * 1024;

interface Waiter {
  isEnough(deliveries: readonly Delivery[]): boolean;
  resolve(): void;
  reject(error: Error): void;
}

/** Whether a server at this address can reach a loopback port of this machine. */
export function isOnLoopback(url: string): boolean {
  return URL.canParse(url) && /^(127\.|localhost$|\[::1\]$)/.test(new URL(url).hostname);
}

/** A webhook on a loopback port that accepts and records every notification. */
export async function openHook(): Promise<Hook> {
  const deliveries: Delivery[] = [];
  const waiters = new Set<Waiter>();
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await read(request).catch(() => undefined);
    if (text === undefined || deliveries.length >= MOST_DELIVERIES) return void response.writeHead(413).end();
    deliveries.push({ method: request.method ?? "", headers: fieldsOf(request), text });
    response.writeHead(204).end();
    for (const waiter of waiters) if (waiter.isEnough(deliveries)) waiter.resolve();
  }
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}/hook`,
    deliveries,
    until: (isEnough) =>
      new Promise((resolve, reject) => {
        if (isEnough(deliveries)) return resolve();
        waiters.add({ isEnough, resolve, reject });
      }),
    close() {
      server.closeAllConnections();
      server.close();
      for (const waiter of waiters) waiter.reject(new Error("the webhook is closed"));
      waiters.clear();
    },
  };
}

function fieldsOf({ headers }: IncomingMessage): Delivery["headers"] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length; // no encoding was set
    if (bytes > MOST_BYTES) throw new Error("the notification is too large");
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}
