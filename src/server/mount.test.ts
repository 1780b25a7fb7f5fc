import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterEach, expect, test } from "vitest";
import { connect } from "../client/index.js";
import { agent } from "./agent.js";
import { mount } from "./mount.js";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function listening(app: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(app ?? (() => undefined));
  opened.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function mounted() {
  const host = mount(agent({ name: "echo", description: "repeats", handle: (message) => message.text }));
  opened.push(() => host.close());
  return host;
}

test("as Express middleware it answers its own paths and passes all others to next", async () => {
  const app = express();
  app.use(mounted().listener);
  app.get("/shop", (_request, response) => {
    response.send("the shop");
  });
  const url = await listening(app);
  expect(await (await fetch(`${url}/shop`)).text()).toBe("the shop");
  const peer = await connect(url);
  opened.push(() => peer.close());
  expect(await peer.ask("hello")).toBe("hello");
  // A path of ours with another method stays ours.
  expect((await fetch(`${url}/health`, { method: "DELETE" })).status).toBe(405);
});

test("without next it answers unknown paths with 404", async () => {
  const url = await listening(mounted().listener);
  expect((await fetch(`${url}/shop`)).status).toBe(404);
});
