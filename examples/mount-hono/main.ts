/** Mount in Hono: the agent is served under /agents, next to the app's own pages. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { agent, connect, mount } from "koine";

const greeter = agent({
  name: "greeter",
  description: "Greets",
  async *handle(message, task) {
    yield task.working("thinking of something nice");
    return `hello ${message.text}`;
  },
});

const app = new Hono();
const server = createAdaptorServer({ fetch: app.fetch });
server.listen(0, "127.0.0.1");
await once(server, "listening");
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP port has such an address

// Cards must name the address callers use, and only the app knows where it put us.
const mounted = mount(greeter, { basePath: "/agents", publicUrl: `${origin}/agents` });
app.get("/", (context) => context.text("the app's own page"));
app.all("/agents/*", (context) => mounted.fetch(context.req.raw));

const peer = await connect(`${origin}/agents`);
try {
  assert.equal(await (await fetch(origin)).text(), "the app's own page");
  assert.equal(await peer.ask("Ann"), "hello Ann");
  const kinds: string[] = [];
  for await (const event of peer.stream("Bob")) kinds.push(event.kind);
  console.log(`streamed through Hono: ${kinds.join(", ")}`);
  assert.equal(kinds.at(-1), "status");
} finally {
  await peer.close();
  await mounted.close();
  server.close();
}
