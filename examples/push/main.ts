/** Push notifications: a webhook receives every event in order, also after a failure. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentError, agent, connect, pushReceiver, serve, textOf } from "koine";

const TOKEN = "a shared secret";

// The webhook fails at first, as a restarting server would.
const received: string[] = [];
let failures = 1;
let finished: () => void = () => undefined;
const done = new Promise<void>((resolve) => {
  finished = resolve;
});
const receiver = pushReceiver({ token: TOKEN }, (event) => {
  if (failures-- > 0) throw new Error("not now");
  if (event.kind === "task") received.push(event.task.status.state);
  if (event.kind === "artifact") received.push(textOf(event.artifact.parts));
  if (event.kind !== "status") return;
  received.push(event.status.state);
  if (event.status.state === "completed") finished();
});
const hook = createServer(receiver.listener).listen(0, "127.0.0.1");
await once(hook, "listening");
const hookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`;

const baker = agent({
  name: "baker",
  description: "Bakes, and notifies when it is done",
  async *handle(message, task) {
    yield task.working("kneading");
    return `a loaf of ${message.text}`;
  },
});

// Webhooks may use public addresses only, unless the server allows others.
const strict = await serve(baker);
const server = await serve(baker, { push: { allow: ["127.0.0.1"] }, taskLimits: { pushRetryMs: 100 } });
const refused = await connect(strict.url);
const peer = await connect(server.url);
try {
  const push = { taskId: "", id: "mine", url: hookUrl, token: TOKEN };
  await assert.rejects(refused.start("rye", { push }), (thrown) => {
    assert(thrown instanceof AgentError);
    console.log(`without allow: ${thrown.message}`);
    return thrown.code === "invalid_message";
  });

  const started = await peer.start("rye", { push });
  assert(started.kind === "task");
  await done;
  console.log(`the webhook received: ${received.join(", ")}`);
  assert.deepEqual(received, ["submitted", "working", "a loaf of rye", "completed"]);

  // The delivery state can be read; the token cannot.
  const [config] = await peer.pushes(started.task.id);
  assert.equal(config?.id, "mine");
  assert.equal(config?.token, undefined);
  assert.notEqual(config?.delivery, undefined);
} finally {
  await Promise.all([peer.close(), refused.close()]);
  await Promise.all([server.close(), strict.close()]);
  hook.close();
}
