import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { compiled } from "../programs.js";
import { redisAvailable, startRedis } from "../redis-server.js";
import { createWorkspace, type Serving, seen, serving, startKoine, type Workspace } from "./koine.js";

/** The log lines of `koine serve` and `koine bridge` about changes of their state. */

const withRedis = await redisAvailable();
const NOTICED = { timeout: 30_000, interval: 50 };
const AGENT = "export const handle = ({ text }) => text;";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function workspace(): Promise<Workspace> {
  const made = await createWorkspace();
  closing.push(() => made.clear());
  return made;
}

/** What a process writes to stderr, by lines. */
function errorsOf({ child }: Serving): () => readonly string[] {
  let text = "";
  child.stderr?.on("data", (chunk) => (text += chunk));
  return () => text.split("\n").filter(Boolean);
}

const factsOf = (lines: readonly string[]) =>
  lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map(({ level, event, dst_id: id, state, health }) => [level, event, id, state ?? health]);

describe("koine serve", () => {
  test.runIf(withRedis)("logs its start, what its store does, and its end, as JSON", { timeout: 90_000 }, async () => {
    const redis = await startRedis();
    closing.push(() => redis.stop());
    const module = await (await workspace()).write("agent.mjs", AGENT);
    const server = await serving([module, "--store", redis.url, "--log-level", "info"]);
    closing.push(() => server.stop("SIGKILL"));
    const lines = errorsOf(server);
    const logged = (line: readonly unknown[]) => vi.waitFor(() => expect(factsOf(lines())).toContainEqual(line), NOTICED);
    await redis.kill();
    await logged(["warn", "koine.health", "store", "down"]);
    await redis.restart();
    await logged(["info", "koine.health", "store", "up"]);
    await server.stop();
    expect(factsOf(lines()).slice(-2)).toEqual([
      ["info", "koine.server", "server", "draining"],
      ["info", "koine.server", "server", "stopped"],
    ]);
  });

  test("as text, and with level warn only what needs attention", async () => {
    const module = await (await workspace()).write(
      "agent.mjs",
      `import { agent } from ${JSON.stringify(pathToFileURL(compiled("src/index.ts")).href)};
       export default { ...agent({ name: "ill", description: "d", handle: () => "x" }), health: async () => ({ usable: false, problems: [] }) };`,
    );
    const child = startKoine(["serve", module, "--port", "0", "--log-format", "text", "--log-level", "warn"]);
    closing.push(() => child.kill("SIGKILL"));
    const line = await seen(child.stderr, /^.*WARN.*$/m);
    expect(line).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z WARN koine\.health agent ill is down dst_id=ill protocol=other health=down$/);
  });

  test("without the options says nothing of it", async () => {
    const module = await (await workspace()).write("agent.mjs", AGENT);
    const server = await serving([module]);
    const lines = errorsOf(server);
    await server.stop();
    expect(lines().filter((line) => line.includes("koine."))).toEqual([]);
  });
});

test("koine bridge logs the health of its agent", async () => {
  const module = await (await workspace()).write("agent.mjs", AGENT);
  const upstream = await serving([module]);
  closing.push(() => upstream.stop());
  const child = startKoine(["bridge", upstream.url, "--port", "0", "--name", "echo", "--log-format", "json", "-o", "json"]);
  closing.push(() => child.kill("SIGKILL"));
  const up = await seen(child.stderr, /^\{.*"koine\.health".*\}$/m);
  expect(factsOf([up])).toEqual([["info", "koine.health", "echo", "up"]]);
});
