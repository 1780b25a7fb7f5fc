/**
 * Your BeeAI ACP agents are A2A today: a running ACP server stays as it is, and a relay in front of it speaks A2A. Streams,
 * questions and cancel go through, and ids stay what they are: a run's id is the task's id.
 */
import assert from "node:assert/strict";
import { agent, connect, serve, textOf } from "koine";
import { listen } from "koine/node";
import { relay } from "koine/protocols";
import { a2a } from "koine/protocols/a2a";
import { acp } from "koine/protocols/acp";

// Stands for the server that is there already, made with acp-sdk for example: it speaks BeeAI ACP and nothing else.
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

// Its address is all one needs to know. Of several agents each has its own: …/agents/name.
const behind = await connect(acpServer.url);
assert.equal(behind.protocol, "acp");
const door = relay({
  upstream: behind.handler,
  card: behind.card,
  protocols: [a2a],
  ids: { now: Date.now, newId: () => crypto.randomUUID() },
});
const port = await listen(door.exchange, { port: 0 });

const peer = await connect(port.url);
try {
  console.log(`${peer.card.name} speaks ${peer.protocol}@${peer.version}, and behind it ${behind.protocol}@${behind.version}`);
  assert.equal(peer.protocol, "a2a");

  const question = await peer.send("good morning");
  if (question.kind !== "task") throw new Error("a question is a task");
  const { id, status } = question.task;
  console.log(`it asks: ${textOf(status.message?.content ?? [])}`);
  assert.equal(status.state, "input-required");

  let way = "";
  for await (const event of peer.stream("the harbour", { task: id }))
    if (event.kind === "artifact") way += textOf(event.artifact.parts);
  console.log(`it says: ${way}`);
  assert.equal(way, "left, then right to the harbour");

  // The same work, seen by ACP: one id on both sides.
  assert.equal((await behind.getTask(id)).status.state, "completed");

  const started = await peer.start("wait");
  if (started.kind !== "task") throw new Error("it was not accepted");
  await peer.cancelTask(started.task.id);
  const end = await behind.getTask(started.task.id);
  console.log(`cancelled by A2A, it is ${end.status.state} in ACP`);
  assert.match(end.status.state, /^cancel/);
} finally {
  await peer.close();
  await port.close();
  await behind.close();
  await acpServer.close();
}
