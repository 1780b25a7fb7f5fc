import { afterAll, beforeAll, expect, test } from "vitest";
import { agent, connect, DiscoveryCache, type Server, serve } from "../../src/index.js";
import { bearerTokens } from "../../src/public/auth.js";
import type { Inspector } from "../../src/telemetry/capture/index.js";
import { noTelemetry } from "../../src/telemetry/index.js";
import { inspecting, newInspector } from "./served.js";

/** No credential is in the log, over any wire. */

const BEARER = "bearer-of-ann-0123456789";
const WEBHOOK_TOKEN = "webhook-token-0123456789";
const WEBHOOK_CREDENTIALS = "webhook-credentials-0123456789";
const IN_METADATA = "metadata-password-0123456789";
const SECRETS = [BEARER, WEBHOOK_TOKEN, WEBHOOK_CREDENTIALS, IN_METADATA];

let inspector: Inspector;
let server: Server;
beforeAll(async () => {
  inspector = newInspector();
  const echo = agent({ name: "echo", description: "d", handle: (_message, task) => task.ask("and then?") });
  server = await serve(echo, {
    ...inspecting(inspector),
    admission: bearerTokens(new Map([["ann", BEARER]])),
    push: { allow: ["127.0.0.1"] },
  });
});
afterAll(() => server?.close());

/** Also as the base64 of a body: a secret in unparsed bytes is still a secret. */
function everything(log: Inspector["log"]): string {
  const all = log.list({}, 10_000).map(({ id }) => log.get(id));
  const binary = all.flatMap((each) => [each?.request, each?.response]).filter((wire) => wire?.encoding === "base64");
  return JSON.stringify(all) + binary.map((wire) => Buffer.from(wire?.body ?? "", "base64").toString("latin1")).join("\n");
}

test.each(["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@1.0/GRPC", "a2a@0.3/JSONRPC", "a2a@0.3/HTTP+JSON", "a2a@0.3/GRPC"])(
  "%s: bearer token, webhook and metadata",
  async (pin) => {
    const out = newInspector();
    const peer = await connect(server.url, {
      pin,
      discoveryCache: new DiscoveryCache(),
      credentials: { bearer: BEARER },
      telemetry: out.telemetry(noTelemetry),
    });
    try {
      const webhook = {
        url: "http://127.0.0.1:9/hook",
        token: WEBHOOK_TOKEN,
        authentication: { scheme: "Bearer", credentials: WEBHOOK_CREDENTIALS },
      };
      const event = await peer.send("hello", { metadata: { password: IN_METADATA }, push: { taskId: "", id: "h", ...webhook } });
      const taskId = event.kind === "task" ? event.task.id : "";
      await peer.setPush(taskId, { id: "second", ...webhook });
      await peer.pushes(taskId);
      await peer.getTask(taskId);
      for (const log of [inspector.log, out.log]) {
        const text = everything(log);
        expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
        // The messages were captured.
        expect(text).toContain('"operation":"push.set"');
        expect(text).toContain(taskId);
      }
    } finally {
      await peer.close();
    }
  },
);

test("redaction keeps the surrounding JSON", () => {
  const [seen] = inspector.log
    .list({ protocol: "a2a" }, 10_000)
    .filter(({ operation, via }) => operation === "push.set" && via.binding === "JSONRPC");
  expect(inspector.log.get(seen?.id ?? "")?.request?.body).toContain('"token":"…"');
});
