import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { compiled } from "../../test/programs.js";
import type { ChildTask } from "./child-task.js";

it("a bridge that waits for its upstream exits when its parent disconnects", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as { readonly port: number }; // a TCP server has one
  const switches = { off: {}, numbered: false, require: [] };
  const to = { url: `http://127.0.0.1:${port}`, pin: "a2a", switches };
  const task: ChildTask = { kind: "bridge", name: "one", pin: "acp", port: 0, folder: "/", settings: {}, to, switches };
  const child = spawn(process.execPath, [compiled("apps/up/child.ts"), JSON.stringify(task)], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  try {
    const [socket] = await once(silent, "connection"); // it is trying to connect
    child.disconnect();
    expect(await once(child, "exit")).toEqual([0, null]);
    socket.destroy();
  } finally {
    child.kill("SIGKILL");
    silent.close();
  }
}, 60_000);
