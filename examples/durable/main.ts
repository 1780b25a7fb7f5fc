/** Durable tasks: the process is killed at work, another one continues the task, and the reader misses nothing. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentError, connect, textOf } from "koine";

const folder = await mkdtemp(join(tmpdir(), "koine-durable-"));
const program = fileURLToPath(new URL("./server.ts", import.meta.url));

/** A server process, and the address it prints when it is ready. */
async function start(port: number): Promise<readonly [ChildProcess, string]> {
  const args = ["--import", "tsx", program, join(folder, "tasks.db"), String(port)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  return [child, String(line).trim()];
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

let [child, url] = await start(0);
// `resume: false`, because this example resumes the stream itself; by default the client does.
const peer = await connect(url, { resume: false });
try {
  const pages: string[] = [];
  let taskId = "";
  let cursor: string | undefined;
  try {
    for await (const event of peer.stream("the Odyssey", { key: "order-7" })) {
      cursor = event.cursor ?? cursor;
      if (event.kind === "task") taskId = event.task.id;
      if (event.kind !== "artifact") continue;
      pages.push(textOf(event.artifact.parts));
      if (pages.length === 2) await kill(child);
    }
    assert.fail("the stream of a killed process cannot end well");
  } catch (thrown) {
    assert(thrown instanceof AgentError, String(thrown));
    console.log(`after ${pages.join("")} the server was killed: ${thrown.code}`);
  }

  // The same file, the same address, another process.
  [child, url] = await start(Number(new URL(url).port));
  for await (const event of peer.subscribe(taskId, cursor === undefined ? {} : { after: cursor })) {
    if (event.kind === "artifact") pages.push(textOf(event.artifact.parts));
    if (event.kind === "status") console.log(`  ${event.status.state}`);
  }
  console.log(`the whole print: ${pages.join("")}`);
  assert.deepEqual(pages, ["[1]", "[2]", "[3]", "[4]", "[5]", "[6]"]);

  // A caller that did not receive the answer sends again with its key: the same task, and no page is printed twice.
  const again = await peer.send("the Odyssey", { key: "order-7" });
  assert(again.kind === "task");
  assert.equal(again.task.id, taskId);
  assert.equal(again.task.status.state, "completed");
} finally {
  await peer.close();
  await kill(child);
  await rm(folder, { recursive: true });
}
