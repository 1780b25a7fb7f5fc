/** Mount in Fastify: the agent is served under /agents, on the raw request and response. */
import assert from "node:assert/strict";
import fastify from "fastify";
import { agent, connect, type Mounted, mount } from "koine";

const greeter = agent({
  name: "greeter",
  description: "Greets",
  async *handle(message, task) {
    yield task.working("thinking of something nice");
    return `hello ${message.text}`;
  },
});

const app = fastify();
let mounted: Mounted | undefined;
app.get("/", () => "the app's own page");
await app.register(async (scope) => {
  // In this scope no parser consumes the body.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
  scope.all("/agents/*", (request, reply) => {
    reply.hijack();
    mounted?.listener(request.raw, reply.raw);
  });
});
const origin = await app.listen({ port: 0, host: "127.0.0.1" });
mounted = mount(greeter, { basePath: "/agents", publicUrl: `${origin}/agents` });

const peer = await connect(`${origin}/agents`);
try {
  assert.equal(await (await fetch(origin)).text(), "the app's own page");
  assert.equal(await peer.ask("Ann"), "hello Ann");
  const kinds: string[] = [];
  for await (const event of peer.stream("Bob")) kinds.push(event.kind);
  console.log(`streamed through Fastify: ${kinds.join(", ")}`);
  assert.equal(kinds.at(-1), "status");
} finally {
  await peer.close();
  await mounted.close();
  await app.close();
}
