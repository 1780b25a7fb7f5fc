import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agent, connect, DiscoveryCache, type Server, serve } from "../../src/index.js";
import { KOINE } from "../../test/programs.js";

/** The real command line against a server and a webhook of this process. */

const TOKEN = "hook-token-0123456789";
const tokens: unknown[] = [];
const hook = createServer((request, response) => {
  tokens.push(request.headers["x-a2a-notification-token"]);
  response.writeHead(request.url === "/broken" ? 500 : 204).end();
});
let server: Server;
let taskId: string;
let hookUrl: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
  hookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
  const asker = agent({ name: "asker", description: "asks", handle: (_message, task) => task.ask("which?") });
  server = await serve(asker, { push: { allow: ["127.0.0.1"] }, taskLimits: { pushTries: 1, pushRetryMs: 5 } });
  const peer = await connect(server.url, { discoveryCache: new DiscoveryCache() });
  const event = await peer.send("go");
  taskId = event.kind === "task" ? event.task.id : "";
  await peer.close();
});
afterAll(async () => {
  hook.closeAllConnections();
  hook.close();
  await server.close();
});

function koine(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [...KOINE, "task", "push", ...args], {
    env: { ...process.env, ...env },
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  return new Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>((resolve) =>
    child.on("close", (code) => resolve({ code, out, err })),
  );
}

test("sets, lists with the state of delivery, and deletes, without ever printing a secret", async () => {
  const set = await koine(
    ["set", server.url, taskId, `${hookUrl}/broken`, "--id", "h", "--hook-token-env", "HOOK", "-o", "json"],
    {
      HOOK: TOKEN,
    },
  );
  expect(JSON.parse(set.out)).toEqual({ id: "h", task_id: taskId, url: `${hookUrl}/broken` });
  const peer = await connect(server.url, { discoveryCache: new DiscoveryCache() });
  await peer.cancelTask(taskId);
  await expect.poll(async () => (await peer.pushes(taskId))[0]?.delivery?.state).toBe("gave_up");
  await peer.close();
  expect(tokens).toEqual([TOKEN]);
  const listed = await koine(["list", server.url, taskId]);
  expect(listed.out).toBe(`h\tgave_up\t2\t${hookUrl}/broken\tHTTP 500 (1 try)\n`);
  const json = await koine(["list", server.url, taskId, "-o", "json"]);
  const delivery = { state: "gave_up", seq: 2, failures: 1, problem: "HTTP 500" };
  expect(JSON.parse(json.out)).toEqual({ pushes: [{ id: "h", task_id: taskId, url: `${hookUrl}/broken`, delivery }] });
  const deleted = await koine(["delete", server.url, taskId, "h"]);
  expect([deleted.code, deleted.out]).toEqual([0, "h deleted\n"]);
  const none = await koine(["list", server.url, taskId]);
  expect([none.code, none.out, none.err]).toEqual([0, "", "No push configurations.\n"]);
  for (const { out, err } of [set, listed, json]) expect(out + err).not.toContain(TOKEN);
}, 60_000);

test("rejects invalid arguments", async () => {
  const unset = await koine(["set", server.url, taskId, hookUrl, "--hook-bearer-env", "NO_SUCH_VARIABLE"]);
  expect([unset.code, unset.err]).toEqual([2, expect.stringContaining("NO_SUCH_VARIABLE")]);
  const refused = await koine(["set", server.url, taskId, "http://169.254.169.254/"]);
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(/webhooks need a public one\nhint: The agent's operator can allow it/),
  ]);
}, 60_000);
