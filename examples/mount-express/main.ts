/** Mount in Express: the agent is served under /agents, before any body parser. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { agent, connect, mount } from "koine";

const greeter = agent({
  name: "greeter",
  description: "Greets",
  async *handle(message, task) {
    yield task.working("thinking of something nice");
    return `hello ${message.text}`;
  },
});

const app = express();
const server = createServer(app);
server.listen(0, "127.0.0.1");
await once(server, "listening");
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP port has such an address

// Express removes the mount path from the URL, so no basePath is needed; cards need the whole address.
const mounted = mount(greeter, { publicUrl: `${origin}/agents` });
app.use("/agents", mounted.listener);
// Body parsers come after: they would consume the body.
app.use(express.json());
app.get("/", (_request, response) => void response.send("the app's own page"));

const peer = await connect(`${origin}/agents`);
try {
  assert.equal(await (await fetch(origin)).text(), "the app's own page");
  assert.equal(await peer.ask("Ann"), "hello Ann");
  const kinds: string[] = [];
  for await (const event of peer.stream("Bob")) kinds.push(event.kind);
  console.log(`streamed through Express: ${kinds.join(", ")}`);
  assert.equal(kinds.at(-1), "status");
} finally {
  await peer.close();
  await mounted.close();
  server.close();
}
