import { once } from "node:events";
import { request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createWorkspace, koine, outcomeOf, type Serving, seen, serving, startKoine, type Workspace } from "./koine.js";

/** What clients see that connect to `koine serve` after SIGTERM, while a call runs: RFC 9110 §15.6.4, RFC 9113 §6.8. */

let workspace: Workspace;
let server: Serving;
beforeEach(async () => {
  workspace = await createWorkspace();
  server = await serving([workspace.agent]);
});
afterEach(async () => {
  await server.stop("SIGKILL");
  await workspace.clear();
});

interface Answer {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  readonly connection: string | undefined;
}

function byHttp1(method: string, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}${path}`, { method, agent: false }, (response) => {
      const { statusCode: status, headers } = response.resume();
      resolve({ status, retryAfter: headers["retry-after"], connection: headers.connection });
    });
    sent.on("error", reject).end(method === "POST" ? "{}" : undefined);
  });
}

/** With prior knowledge. */
async function byHttp2(): Promise<unknown> {
  const session = connectHttp2(server.url);
  const goaway = once(session, "goaway");
  const ended = once(session, "close");
  const stream = session.request({ ":method": "POST", ":path": "/" });
  stream.end("{}");
  const [fields] = await once(stream, "response");
  stream.resume();
  const [code] = await goaway;
  await ended;
  return { status: fields[":status"], retryAfter: fields["retry-after"], goaway: code };
}

test("a client that connects during the drain sees 503, and the running call gets its answer", async () => {
  const sender = startKoine(["send", server.url, "gate", "--stream"]);
  sender.stdin?.end();
  const sent = outcomeOf(sender);
  await seen(sender.stdout, /before/);
  const exited = once(server.child, "exit");
  server.child.kill("SIGTERM");
  // Only the signal's arrival is not visible from outside; readiness is.
  await expect.poll(async () => (await byHttp1("GET", "/readyz")).status).toBe(503);
  expect(await byHttp1("GET", "/livez")).toMatchObject({ status: 200, connection: "close" });
  expect(await byHttp1("POST", "/")).toEqual({ status: 503, retryAfter: "1", connection: "close" });
  expect(await byHttp2()).toEqual({ status: 503, retryAfter: "1", goaway: 0 });
  const refused = await koine(["send", server.url, "late"]);
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("is unavailable (503): try again in 1 s")]);
  await workspace.openGate();
  expect(await sent).toMatchObject({ code: 0, stdout: expect.stringContaining("behind") });
  expect((await exited)[0]).toBe(0);
});

test("a server without calls stops listening at once", async () => {
  const exited = once(server.child, "exit");
  server.child.kill("SIGTERM");
  expect((await exited)[0]).toBe(0);
  await expect(byHttp1("GET", "/readyz")).rejects.toMatchObject({ code: "ECONNREFUSED" });
});
