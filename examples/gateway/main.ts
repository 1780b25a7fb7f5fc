// An agent that already runs, behind a gateway that speaks everything: a stream, a question, a cancel and a restart of the
// gateway go through, and what was lost is told.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent, bridge, connect, openSqliteStore, type Server, serve } from "koine";

const folder = mkdtempSync(join(tmpdir(), "koine-gateway-"));
const secret = new TextEncoder().encode("the same for every gateway over this store");

// Somebody else's agent, reached here by one protocol only.
const seen: string[] = [];
const weather = agent({
  name: "weather",
  description: "What it will be like",
  async *handle(message, task) {
    seen.push(task.sessionId);
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
  const behind = await bridge(running.url, { pin: "acp", bridge: { secret } });
  const store = await openSqliteStore({ file: join(folder, "tasks.db"), now: Date.now });
  const server = await serve(behind, { store });
  const stop = async (): Promise<void> => {
    await server.close();
    for (const { count, path, reason } of behind.losses.losses()) console.log(`lost ${count} times: ${path} (${reason})`);
    await Promise.all([behind.close(), store.close?.()]);
  };
  return { server, stop };
}

// In front by gRPC, behind by BeeAI ACP.
const first = await gateway();
const caller = await connect(first.server.url, { pin: "a2a@1.0/GRPC" });
const asked = await caller.send("tomorrow?", { session: "my-session" });
assert.equal(asked.kind, "task");
const question = asked.kind === "task" ? asked.task : assert.fail("a question is a task");
assert.equal(question.status.state, "input-required");
console.log("asked back, and the agent never saw the caller's own session:", !seen.includes("my-session"));
assert.ok(!seen.includes("my-session"));

// The gateway ends and another takes its place; the task is still the same one, here and behind.
await caller.close();
await first.stop();
const second = await gateway();
const again = await connect(second.server.url, { pin: "a2a@1.0/JSONRPC" });
const answer = await again.ask("Athens", { task: question.id });
console.log(answer);
assert.equal(answer, "Sunny in Athens");

// Cancel reaches the agent itself.
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
