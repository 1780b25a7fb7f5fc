/** Long work: progress, an artifact in pieces, a question, cancel, and a reader that comes back from where it was. */
import assert from "node:assert/strict";
import { agent, connect, serve, textOf } from "koine";

const press = agent({
  name: "press",
  description: "Prints pages, asks how many, and can be stopped",
  async *handle(message, task) {
    if (message.text === "wait") {
      yield task.working("waiting for somebody to stop me");
      await new Promise((resolve) => task.signal.addEventListener("abort", resolve, { once: true }));
      return undefined;
    }
    if (task.turn === 1) {
      task.save({ title: message.text });
      return task.ask("How many pages?");
    }
    // Another turn is another call, maybe in another process: what it needs was saved.
    const { title } = task.state as { readonly title: string };
    const pages = Number(message.text);
    for (let page = 1; page <= pages; page++) {
      yield task.working(`page ${page} of ${pages}`);
      yield task.artifact(`[${title} ${page}]`, { id: "print", name: "print.txt", append: page > 1, last: page === pages });
    }
    return task.complete(`${pages} pages printed`);
  },
});

const server = await serve(press);
const peer = await connect(server.url);
try {
  // A question ends the turn; the answer goes to the same task.
  const question = await peer.send("Odyssey");
  assert(question.kind === "task");
  assert.equal(question.task.status.state, "input-required");
  console.log(`the agent asks: ${textOf(question.task.status.message?.content ?? [])}`);
  const taskId = question.task.id;

  // The second turn, heard as it goes. We stop listening early, as a lost connection would.
  const heard: string[] = [];
  let cursor: string | undefined;
  for await (const event of peer.stream("3", { task: taskId })) {
    cursor = event.cursor ?? cursor;
    if (event.kind === "artifact") heard.push(textOf(event.artifact.parts));
    if (heard.length === 1) break;
  }
  console.log(`heard ${heard.join(" ")}, then the line went dead`);
  assert(cursor !== undefined);

  // Back again: from the cursor on, nothing is missed and nothing comes twice.
  for await (const event of peer.subscribe(taskId, { after: cursor })) {
    if (event.kind === "artifact") heard.push(textOf(event.artifact.parts));
    if (event.kind === "status") console.log(`  ${event.status.state}: ${textOf(event.status.message?.content ?? [])}`);
  }
  assert.deepEqual(heard, ["[Odyssey 1]", "[Odyssey 2]", "[Odyssey 3]"]);

  const whole = await peer.getTask(taskId);
  assert.equal(whole.status.state, "completed");
  assert.equal(whole.artifacts.length, 1);

  // Work that goes on until it is cancelled, found again by its key.
  const started = await peer.start("wait", { key: "job-17" });
  assert(started.kind === "task");
  const { tasks } = await peer.listTasks({ idempotencyKey: "job-17" });
  assert.deepEqual(
    tasks.map(({ id }) => id),
    [started.task.id],
  );
  const canceled = await peer.cancelTask(started.task.id);
  console.log(`the other task is ${canceled.status.state}`);
  assert.equal(canceled.status.state, "canceled");
} finally {
  await peer.close();
  await server.close();
}
