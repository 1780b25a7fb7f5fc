import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { agent, serve } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { sessionToy } from "../session-toy/index.js";
import { browserPath, launch } from "./browser.js";

const path = browserPath();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The origin of a page that belongs to somebody else. */
async function foreignOrigin(): Promise<string> {
  const server = createServer((_req, res) =>
    res.setHeader("content-type", "text/html").end("<!doctype html><title>other</title>"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function served(allowedOrigins: readonly string[]): Promise<string> {
  const echo = agent({ name: "echo", description: "repeats", handle: ({ text }) => text });
  const server = await serve(echo, { push: false, protocols: [...protocols, sessionToy], allowedOrigins });
  closing.push(() => server.close());
  return server.url;
}

describe.skipIf(path === undefined)("a web page of another origin", { timeout: 60_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch(path ?? "");
  });
  afterAll(() => browser?.close());

  /** Opens a session from a page of this origin, as a script of that page would. */
  async function openFrom(origin: string, url: string): Promise<unknown> {
    const page = await browser.newPage();
    closing.push(() => page.close());
    await page.goto(origin);
    const address = `${url.replace("http", "ws")}/session-toy`;
    return page.evaluate(`new Promise((resolve) => {
      const socket = new WebSocket(${JSON.stringify(address)}, "session-toy.1");
      socket.onopen = () => resolve("open");
      socket.onerror = () => resolve("refused");
    })`);
  }

  it("cannot open a session", async () => {
    expect(await openFrom(await foreignOrigin(), await served([]))).toBe("refused");
  });

  it("can if its origin is allowed", async () => {
    const origin = await foreignOrigin();
    expect(await openFrom(origin, await served([origin]))).toBe("open");
  });
});
