import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readdir, stat, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, serve } from "../../src/index.js";
import { KOINE } from "../programs.js";
import { type RedisServer, redisAvailable, startRedis } from "../redis-server.js";
import { createWorkspace, koine, type Serving, seen, serving, startKoine, type Workspace } from "./koine.js";

/** Parts that are too large for a message: after a restart, on every replica, and as files of `koine send`. */

const GIVEN_BYTES = 2_000_000;
const FILE_BYTES = 20_000_000;
const TEST_MS = 60_000;

const DEPOT = `
import { createHash } from "node:crypto";
export async function handle(message, task) {
  if (message.text === "give") return [{ kind: "raw", bytes: Buffer.alloc(${GIVEN_BYTES}, "koine"), mediaType: "application/x-koine" }];
  const part = message.content.find(({ kind }) => kind === "raw" || kind === "url");
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of task.read(part)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return part.kind + " " + part.name + " " + bytes + " " + hash.digest("hex") + " refs " + (message.context.artifactRefs ?? []).length;
}
`;
const GIVEN = sha256(Buffer.alloc(GIVEN_BYTES, "koine"));

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

let workspace: Workspace;
let depot: string;
let file: string;
const content = randomBytes(FILE_BYTES);
beforeAll(async () => {
  workspace = await createWorkspace();
  depot = workspace.path("depot.mjs");
  await writeFile(depot, DEPOT);
  file = workspace.path("film.bin");
  await writeFile(file, content);
});
afterAll(() => workspace.clear());

/** The link to what the agent gave, as a task. */
async function linkFrom(server: Serving): Promise<URL> {
  const sent = await koine(["send", server.url, "give", "--idempotency-key", "k-1", "-o", "json"]);
  const { task } = JSON.parse(sent.stdout); // the output of `send -o json` for a task
  return new URL(task.artifacts[0].parts[0].url);
}

async function digestAt(link: URL, server: Pick<Serving, "url">): Promise<string> {
  const response = await fetch(new URL(link.pathname + link.search, server.url));
  return response.status === 200 ? sha256(new Uint8Array(await response.arrayBuffer())) : `status ${response.status}`;
}

const sendFile = (url: string, ...more: readonly string[]) => koine(["send", url, "take", "--file", file, ...more]);
const TAKEN = `url film.bin ${FILE_BYTES} ${sha256(content)} refs 1\n`;

describe("--data", () => {
  test(
    "a large part is readable after kill -9 and a restart",
    async () => {
      const args = [depot, "--data", workspace.path("restarted")];
      const before = await serving(args);
      const link = await linkFrom(before);
      expect(await digestAt(link, before)).toBe(GIVEN);
      await before.stop("SIGKILL");
      const after = await serving(args, {}, before.port);
      expect(await digestAt(link, after)).toBe(GIVEN);
      await after.stop();
    },
    TEST_MS,
  );

  test(
    "a file of 20 MB is uploaded, and read by the agent as a stream",
    async () => {
      const server = await serving([depot, "--data", workspace.path("uploads")]);
      expect(await sendFile(server.url)).toMatchObject({ code: 0, stdout: TAKEN });
      await server.stop();
    },
    TEST_MS,
  );

  test(
    "an upload goes on after kill -9 of the server, where it stood",
    async () => {
      const args = [depot, "--data", workspace.path("cut")];
      const before = await serving(args);
      const sending = startKoine(["send", before.url, "take", "--file", file]);
      sending.stdin?.end();
      let stdout = "";
      sending.stdout?.on("data", (chunk) => (stdout += chunk));
      const ended = new Promise<number | null>((resolve) => sending.on("close", resolve));
      const stored = async (): Promise<number> => {
        const names = await readdir(workspace.path("cut/artifacts"));
        const sizes = names.filter((name) => name.endsWith(".bin")).map((name) => stat(workspace.path(`cut/artifacts/${name}`)));
        return Math.max(0, ...(await Promise.all(sizes)).map(({ size }) => size));
      };
      while ((await stored()) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      await before.stop("SIGKILL");
      const kept = await stored();
      const after = await serving(args, {}, before.port);
      expect(await ended).toBe(0);
      expect(stdout).toBe(TAKEN);
      expect(kept).toBeGreaterThan(0);
      await after.stop();
    },
    TEST_MS,
  );
});

describe.skipIf(!(await redisAvailable()))("--store redis://", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test(
    "a large part is readable on every replica, also after the one that made it is gone",
    async () => {
      const [first, second] = await Promise.all([serving([depot, "--store", redis.url]), serving([depot, "--store", redis.url])]);
      const link = await linkFrom(first);
      expect(await digestAt(link, second)).toBe(GIVEN);
      await first.stop("SIGKILL");
      expect(await digestAt(link, second)).toBe(GIVEN);
      expect(await sendFile(second.url)).toMatchObject({ code: 0, stdout: TAKEN });
      await second.stop();
    },
    TEST_MS,
  );
});

test(
  "a peer without an artifact store is refused by name, before anything large is sent",
  async () => {
    let handled = 0;
    const foreign = await serve(agent({ name: "foreign", description: "Has no store", handle: () => `${++handled}` }));
    const refused = await sendFile(foreign.url, "-o", "json");
    expect([refused.code, handled]).toEqual([1, 0]);
    expect(JSON.parse(refused.stderr).error).toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("has no artifact store that Koine can upload to"),
      hint: expect.stringContaining("send its URL"),
    });
    await foreign.close();
  },
  TEST_MS,
);

test(
  "a terminal shows the progress",
  async () => {
    const server = await serving([depot, "--data", workspace.path("terminal")]);
    // Large enough for the line to appear, which it does after 300 ms.
    const large = workspace.path("large.bin");
    await writeFile(large, Buffer.alloc(150_000_000));
    const command = [process.execPath, ...KOINE, "send", server.url, "take", "--file", large].join(" ");
    const child = spawn("script", ["-qec", command, "/dev/null"], { stdio: ["ignore", "pipe", "inherit"] });
    await seen(child.stdout, /uploading \d+s · \d+ % of 150\.0 MB large\.bin/);
    await seen(child.stdout, /url large\.bin 150000000/);
    await server.stop();
  },
  TEST_MS,
);
