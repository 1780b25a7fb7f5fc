import { mkdtempSync, rmSync } from "node:fs";
import { connect as dial, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isTerminal } from "../../src/index.js";
import { callerOf, closeCallers, TOKENS } from "./processes/callers.js";
import { heldBy } from "./processes/memory.js";
import { killProcesses, type OwnProcess, startProcess } from "./processes/start.js";

/** A gateway with one reader that does not read. */

const folder = mkdtempSync(join(tmpdir(), "koine-reader-"));
const MIB = 1024 * 1024;
const START_MS = 60_000;
const STALL_MS = 2_000;

afterAll(async () => {
  await closeCallers();
  await killProcesses();
  rmSync(folder, { recursive: true });
});

/** Requests a stream over a raw socket, and reads nothing of it. */
function stalledReader(gateway: OwnProcess, agent: string, text: string): Socket {
  const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text }] };
  const body = JSON.stringify({ message });
  const socket = dial({ port: gateway.port, host: "127.0.0.1" });
  socket.on("error", () => undefined);
  socket.pause();
  const head = [
    `POST /a2a/${agent}/message:stream HTTP/1.1`,
    `Host: 127.0.0.1:${gateway.port}`,
    `Authorization: Bearer ${TOKENS.bob}`,
    "Content-Type: application/json",
    "A2A-Version: 1.0",
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  return socket;
}

describe("a reader that does not read", () => {
  const EVENTS = 10_000;
  const BYTES = 1_024;
  let upstream: OwnProcess;
  let gateway: OwnProcess;

  beforeAll(async () => {
    upstream = await startProcess("upstream", {});
    const upstreams = [{ name: "worker", url: upstream.url, pin: "a2a@1.0/JSONRPC" }];
    const limits = { writeStallMs: STALL_MS };
    gateway = await startProcess("gateway", { upstreams, file: join(folder, "tasks.db"), leaseMs: 5_000, limits });
  }, START_MS);
  afterAll(() => killProcesses());

  test("costs a cursor and no queue, does not delay others, and is disconnected in time", async () => {
    const alice = await callerOf(gateway.url, "worker");
    const bob = await callerOf(gateway.url, "worker", "bob");
    expect(await alice.ask("hello")).toBe("hello");
    const before = await heldBy(gateway, "before");
    const socket = stalledReader(gateway, "worker", `fill ${EVENTS} ${BYTES}`);
    const cut = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    await upstream.lineStarting(`heard {"text":"fill ${EVENTS}`);
    const isOver = async () => {
      const { tasks } = await bob.listTasks();
      return tasks.length > 0 && tasks.every(({ status }) => isTerminal(status.state));
    };
    let most = 0;
    let asked = 0;
    while (!(await isOver())) {
      expect(await alice.ask(`still there ${asked}`)).toBe(`still there ${asked}`);
      most = Math.max(most, await heldBy(gateway, `during-${asked++}`));
    }
    expect((await bob.listTasks()).tasks.map(({ status }) => status.state)).toEqual(["completed"]);
    // All events passed the reader, about ten megabytes.
    expect(most - before).toBeLessThan(24 * MIB);
    expect(asked).toBeGreaterThan(0);
    // The socket reports its end only when it is read. The timer of a socket looks for progress once per limit, and sees some where the last
    // write was taken in part: it ends after two of them at the latest.
    setTimeout(() => socket.resume(), 3 * STALL_MS);
    await cut;
    expect(socket.bytesRead).toBeLessThan(EVENTS * BYTES);
    expect(await alice.ask("and after")).toBe("and after");
  }, 90_000);
});
