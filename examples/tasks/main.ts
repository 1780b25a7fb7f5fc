/** Tasks: progress, an artifact in chunks, a question, cancel, and a reader that resumes from its cursor. */
import assert from "node:assert/strict";
import { agent, connect, serve, textOf } from "koine";

const press = agent({
  name: "press",
  description: "Prints pages, asks how many, and can be stopped",
  async *handle(message, task) {
    if (message.text === "wait") {
      yield task.working("waiting for cancel");
      await new Promise((resolve) => task.signal.addEventListener("abort", resolve, { once: true }));
      return undefined;
    }
    if (task.turn === 1) {
      task.save({ title: message.text });
      return task.ask("How many pages?");
    }
    // Another turn is another call, maybe in another process, so the state was saved.
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

  // The second turn, streamed. We stop reading early, as a lost connection would.
  const received: string[] = [];
  let cursor: string | undefined;
  for await (const event of peer.stream("3", { task: taskId })) {
    cursor = event.cursor ?? cursor;
    if (event.kind === "artifact") received.push(textOf(event.artifact.parts));
    if (received.length === 1) break;
  }
  console.log(`received ${received.join(" ")}, then disconnected`);
  assert(cursor !== undefined);

  // Resume from the cursor: nothing is missed and nothing is repeated.
  for await (const event of peer.subscribe(taskId, { after: cursor })) {
    if (event.kind === "artifact") received.push(textOf(event.artifact.parts));
    if (event.kind === "status") console.log(`  ${event.status.state}: ${textOf(event.status.message?.content ?? [])}`);
  }
  assert.deepEqual(received, ["[Odyssey 1]", "[Odyssey 2]", "[Odyssey 3]"]);

  const whole = await peer.getTask(taskId);
  assert.equal(whole.status.state, "completed");
  assert.equal(whole.artifacts.length, 1);

  // A task that runs until it is cancelled, found by its key.
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
