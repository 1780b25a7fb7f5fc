import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serving } from "../cli/koine.js";
import { KOINE } from "../programs.js";

/** A file of 200 MB from one process to another: neither has it in memory. */

const FILE_BYTES = 200_000_000;
const GROWTH_BYTES = 64 * 1024 * 1024;

const DEPOT = `
import { createHash } from "node:crypto";
export async function handle(message, task) {
  const part = message.content.find(({ kind }) => kind !== "text");
  if (part === undefined) return "ready";
  if (message.text === "give back") return [part];
  const hash = createHash("sha256");
  for await (const chunk of task.read(part)) hash.update(chunk);
  return hash.digest("hex");
}
`;

/** The largest RSS so far, as the kernel counted it. */
async function peakOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

/** Sends and returns the answer, and the largest RSS of the sender. */
async function send(
  url: string,
  text: string,
  ...more: readonly string[]
): Promise<{ readonly answer: string; readonly peak: number }> {
  const child = spawn(process.execPath, [...KOINE, "send", url, text, ...more], { stdio: ["ignore", "pipe", "inherit"] });
  let [answer, peak, ended] = ["", 0, false];
  child.stdout.on("data", (chunk) => (answer += chunk));
  const closed = once(child, "close").then(() => {
    ended = true;
  });
  while (!ended) {
    peak = Math.max(peak, await peakOf(child.pid));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await closed;
  return { answer: answer.trim(), peak };
}

test("koine send --file and --save of 200 MB grow neither process by 64 MiB", async () => {
  const folder = await mkdtemp(join(tmpdir(), "koine-large-files-"));
  const [depot, path] = [join(folder, "depot.mjs"), join(folder, "film.bin")];
  await writeFile(depot, DEPOT);
  const hash = createHash("sha256");
  const file = await open(path, "w");
  for (let written = 0; written < FILE_BYTES; written += 1_000_000) {
    const piece = randomBytes(1_000_000);
    hash.update(piece);
    await file.write(piece);
  }
  await file.close();
  const server = await serving([depot, "--data", join(folder, "data")]);
  // Both have then loaded what a message needs.
  const small = await send(server.url, "take");
  expect(small.answer).toBe("ready");
  const before = await peakOf(server.child.pid);
  const large = await send(server.url, "take", "--file", path);
  const after = await peakOf(server.child.pid);
  const saved = await send(server.url, "give back", "--file", path, "--save", join(folder, "out"));
  const savedDigest = createHash("sha256");
  for await (const chunk of createReadStream(join(folder, "out", "film.bin"))) savedDigest.update(chunk);
  await server.stop();
  await rm(folder, { recursive: true });
  process.stderr.write(
    `growth: server ${after - before}, client ${large.peak - small.peak}, with --save ${saved.peak - small.peak}\n`,
  );
  const digest = hash.digest("hex");
  expect(large.answer).toBe(digest);
  expect(savedDigest.digest("hex")).toBe(digest);
  expect(saved.peak - small.peak).toBeLessThan(GROWTH_BYTES);
  expect(after - before).toBeLessThan(GROWTH_BYTES);
  expect(large.peak - small.peak).toBeLessThan(GROWTH_BYTES);
}, 120_000);
