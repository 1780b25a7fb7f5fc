// A gateway in front of a running agent: a question, a cancel and a restart of the gateway work through it, and losses are
// reported.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent, bridge, connect, openSqliteStore, type Server, serve } from "koine";

const folder = mkdtempSync(join(tmpdir(), "koine-gateway-"));
const secret = new TextEncoder().encode("the same for every gateway over this store");

// The upstream agent, called over one protocol only.
const sessions: string[] = [];
const weather = agent({
  name: "weather",
  description: "What it will be like",
  async *handle(message, task) {
    sessions.push(task.sessionId);
    if (task.turn > 1) return `Sunny in ${message.text}`;
    if (message.text === "tomorrow?") return task.ask("Where?");
    for (let hour = 0; hour < 200 && !task.signal.aborted; hour++) {
      yield task.working(`hour ${hour}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return "done";
  },
});
const running = await serve(weather);

async function gateway(): Promise<{ readonly server: Server; stop(): Promise<void> }> {
  const upstream = await bridge(running.url, { pin: "acp", bridge: { secret } });
  const store = await openSqliteStore({ file: join(folder, "tasks.db"), now: Date.now });
  const server = await serve(upstream, { store });
  const stop = async (): Promise<void> => {
    await server.close();
    for (const { count, path, reason } of upstream.losses.losses()) console.log(`lost ${count} times: ${path} (${reason})`);
    await Promise.all([upstream.close(), store.close?.()]);
  };
  return { server, stop };
}

// The listener speaks gRPC, the upstream BeeAI ACP.
const first = await gateway();
const caller = await connect(first.server.url, { pin: "a2a@1.0/GRPC" });
const asked = await caller.send("tomorrow?", { session: "my-session" });
assert.equal(asked.kind, "task");
const question = asked.kind === "task" ? asked.task : assert.fail("a question is a task");
assert.equal(question.status.state, "input-required");
console.log("the upstream does not see the caller's session id:", !sessions.includes("my-session"));
assert.ok(!sessions.includes("my-session"));

// The gateway is restarted; the task is the same, at the listener and upstream.
await caller.close();
await first.stop();
const second = await gateway();
const again = await connect(second.server.url, { pin: "a2a@1.0/JSONRPC" });
const answer = await again.ask("Athens", { task: question.id });
console.log(answer);
assert.equal(answer, "Sunny in Athens");

// Cancel reaches the upstream agent.
const long = await again.start("all day");
const taskId = long.kind === "task" ? long.task.id : assert.fail("long work is a task");
for await (const event of again.subscribe(taskId)) if (event.kind === "status") break;
const { status } = await again.cancelTask(taskId);
console.log("cancelled:", status.state);
assert.equal(status.state, "canceled");

await again.close();
await second.stop();
await running.close();
rmSync(folder, { recursive: true, force: true });
