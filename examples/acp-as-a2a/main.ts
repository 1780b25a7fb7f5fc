/**
 * Serve a BeeAI ACP agent as A2A: the ACP server stays unchanged, and a relay in front of it speaks A2A. Streams,
 * questions and cancel work, and a run's id is the task's id.
 */
import assert from "node:assert/strict";
import { agent, connect, serve, textOf } from "koine";
import { listen } from "koine/node";
import { relay } from "koine/protocols";
import { a2a } from "koine/protocols/a2a";
import { acp } from "koine/protocols/acp";

// The existing server, made with acp-sdk for example: it speaks BeeAI ACP only.
const guide = agent({
  name: "guide",
  description: "Shows the way",
  async *handle(message, task) {
    if (message.text === "wait") {
      yield task.working("waiting");
      await new Promise((resolve) => task.signal.addEventListener("abort", resolve, { once: true }));
    }
    if (task.turn === 1) return task.ask("where to?");
    yield "left, ";
    yield "then ";
    return `right to ${message.text}`;
  },
});
const acpServer = await serve(guide, { protocols: [acp] });

// With several agents on one server, each has its own address: …/agents/name.
const upstream = await connect(acpServer.url);
assert.equal(upstream.protocol, "acp");
const relayed = relay({
  upstream: upstream.handler,
  card: upstream.card,
  protocols: [a2a],
  ids: { now: Date.now, newId: () => crypto.randomUUID() },
});
const listener = await listen(relayed.exchange, { port: 0 });

const peer = await connect(listener.url);
try {
  console.log(
    `${peer.card.name} speaks ${peer.protocol}@${peer.version}; its upstream speaks ${upstream.protocol}@${upstream.version}`,
  );
  assert.equal(peer.protocol, "a2a");

  const question = await peer.send("good morning");
  if (question.kind !== "task") throw new Error("a question is a task");
  const { id, status } = question.task;
  console.log(`it asks: ${textOf(status.message?.content ?? [])}`);
  assert.equal(status.state, "input-required");

  let answer = "";
  for await (const event of peer.stream("the harbour", { task: id }))
    if (event.kind === "artifact") answer += textOf(event.artifact.parts);
  console.log(`it says: ${answer}`);
  assert.equal(answer, "left, then right to the harbour");

  // The same task in ACP, with the same id.
  assert.equal((await upstream.getTask(id)).status.state, "completed");

  const started = await peer.start("wait");
  if (started.kind !== "task") throw new Error("the task was not accepted");
  await peer.cancelTask(started.task.id);
  const end = await upstream.getTask(started.task.id);
  console.log(`cancelled over A2A, it is ${end.status.state} in ACP`);
  assert.match(end.status.state, /^cancel/);
} finally {
  await peer.close();
  await listener.close();
  await upstream.close();
  await acpServer.close();
}
