/** gRPC on the same port as the other bindings: same agent, same answers, same errors. */
import assert from "node:assert/strict";
import { AgentError, agent, connect, serve, textOf } from "koine";

const counter = agent({
  name: "counter",
  description: "Counts, and can be stopped",
  async *handle(message, task) {
    for (let number = 1; number <= Number(message.text); number++) yield `${number} `;
    if (message.text === "for ever") {
      yield task.working("counting");
      await new Promise((resolve) => task.signal.addEventListener("abort", resolve, { once: true }));
    }
    return undefined;
  },
});

const server = await serve(counter);
const grpc = await connect(server.url, { pin: "a2a@1.0/GRPC" });
const json = await connect(server.url, { pin: "a2a@1.0/JSONRPC" });
try {
  console.log(`one port: ${grpc.card.interfaces.map(({ binding, version }) => `${binding} ${version}`).join(", ")}`);
  assert.equal(grpc.binding, "GRPC");

  let text = "";
  for await (const event of grpc.stream("5")) if (event.kind === "artifact") text += textOf(event.artifact.parts);
  console.log(`streamed over gRPC: ${text}`);
  assert.equal(text, "1 2 3 4 5 ");

  // A task is independent of the binding: started over one, cancelled over the other.
  const started = await grpc.start("for ever");
  assert(started.kind === "task");
  const canceled = await json.cancelTask(started.task.id);
  assert.equal(canceled.status.state, "canceled");
  assert.equal((await grpc.getTask(started.task.id)).status.state, "canceled");

  // The error codes are the same in every binding.
  for (const peer of [grpc, json]) {
    await assert.rejects(
      peer.getTask("no-such-task"),
      (thrown) => thrown instanceof AgentError && thrown.code === "task_not_found",
    );
  }
} finally {
  await Promise.all([grpc.close(), json.close()]);
  await server.close();
}
