import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { configFrom, openGateway } from "../../apps/gateway/index.js";
import { agent, serve } from "../../src/index.js";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The log of a gateway with one upstream that is up and one that is not. */
async function logged(more: object): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "koine-log-"));
  closing.push(() => rmSync(folder, { recursive: true }));
  const server = await serve(agent({ name: "echo", description: "repeats", handle: ({ text }) => text }));
  closing.push(() => server.close());
  const agents = [
    { name: "here", upstream: server.url },
    { name: "gone", upstream: "http://127.0.0.1:1" },
  ];
  const document = { listen: { port: 0 }, agents, admin: false, log: { file: "log" }, limits: { drainMs: 1 }, ...more };
  const gateway = await openGateway(configFrom(document, { folder, env: {} }));
  await gateway.close();
  return readFileSync(join(folder, "log"), "utf8").split("\n").filter(Boolean);
}

describe("the log of a gateway", () => {
  test("has every change of health as JSON", async () => {
    const lines = (await logged({})).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toContainEqual(expect.objectContaining({ level: "info", event: "koine.health", dst_id: "here", health: "up" }));
    expect(lines).toContainEqual(
      expect.objectContaining({ level: "warn", event: "koine.health", dst_id: "gone", health: "down" }),
    );
  });

  test("with level warn has what needs attention, and as text is readable", async () => {
    const lines = await logged({ logLevel: "warn", logFormat: "text" });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z WARN koine\.health gone is down dst_id=gone protocol=other health=down error=\w+ face=E_CONN$/,
    );
  });
});
