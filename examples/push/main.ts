/** Being told instead of asking: a webhook hears everything in order, also when it was away for a moment. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentError, agent, connect, pushReceiver, serve, textOf } from "koine";

const TOKEN = "something only we two know";

// The webhook: it fails at first, as a server that is just being restarted would.
const heard: string[] = [];
let failures = 1;
let finished: () => void = () => undefined;
const done = new Promise<void>((resolve) => {
  finished = resolve;
});
const receiver = pushReceiver({ token: TOKEN }, (event) => {
  if (failures-- > 0) throw new Error("not now");
  if (event.kind === "task") heard.push(event.task.status.state);
  if (event.kind === "artifact") heard.push(textOf(event.artifact.parts));
  if (event.kind !== "status") return;
  heard.push(event.status.state);
  if (event.status.state === "completed") finished();
});
const hook = createServer(receiver.listener).listen(0, "127.0.0.1");
await once(hook, "listening");
const hookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`;

const baker = agent({
  name: "baker",
  description: "Bakes, and tells when it is done",
  async *handle(message, task) {
    yield task.working("kneading");
    return `a loaf of ${message.text}`;
  },
});

// Webhooks lead to public addresses only, unless whoever serves says otherwise.
const strict = await serve(baker);
const server = await serve(baker, { push: { allow: ["127.0.0.1"] }, taskLimits: { pushRetryMs: 100 } });
const stranger = await connect(strict.url);
const peer = await connect(server.url);
try {
  const push = { taskId: "", id: "mine", url: hookUrl, token: TOKEN };
  await assert.rejects(stranger.start("rye", { push }), (thrown) => {
    assert(thrown instanceof AgentError);
    console.log(`without allow: ${thrown.message}`);
    return thrown.code === "invalid_message";
  });

  const started = await peer.start("rye", { push });
  assert(started.kind === "task");
  await done;
  console.log(`the webhook heard: ${heard.join(", ")}`);
  assert.deepEqual(heard, ["submitted", "working", "a loaf of rye", "completed"]);

  // How far it was told can be read; what it is shown cannot.
  const [config] = await peer.pushes(started.task.id);
  assert.equal(config?.id, "mine");
  assert.equal(config?.token, undefined);
  assert.notEqual(config?.delivery, undefined);
} finally {
  await Promise.all([peer.close(), stranger.close()]);
  await Promise.all([server.close(), strict.close()]);
  hook.close();
}
