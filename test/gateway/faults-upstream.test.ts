import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentError } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { interfacesOf, type PinnedInterface } from "./pairs/interfaces.js";
import { callerOf, closeCallers, heldBy, nameOf, numbers, piecesOf, Reading, taskOf } from "./processes/callers.js";
import { killProcesses, type OwnProcess, receivedBy, startProcess } from "./processes/start.js";

/** The upstream of a gateway dies in the middle of a stream, and is restarted or not. */

const folder = mkdtempSync(join(tmpdir(), "koine-upstream-"));
const interfaces = await interfacesOf(protocols);
const withTasks = interfaces.filter(({ traits }) => traits.tasks);
const withoutTasks = interfaces.filter(({ traits }) => !traits.tasks);
const LEASE_MS = 1_000;
const START_MS = 90_000;
const TEST_MS = 60_000;
const SETTLED_MS = 15_000;
const NUMBERS = 6;
const HOLD_AT = 3;
/** Minutes of retry delay become seconds. */
const HURRY = 40;

const gone = (iface: PinnedInterface): string => `gone-${nameOf(iface)}`;
const counting = (iface: PinnedInterface): string => `count ${NUMBERS} ${HOLD_AT} ${nameOf(iface)}`;

let durable: OwnProcess;
let gateway: OwnProcess;
const begun = new Map<PinnedInterface, { readonly stays: Reading; readonly goes: Reading }>();
const unanswered = new Map<PinnedInterface, { readonly taskId: string; readonly asked: Promise<AgentError> }>();

beforeAll(async () => {
  const kept = { file: join(folder, "upstream.db"), leaseMs: LEASE_MS };
  const [first, mortal] = await Promise.all([startProcess("upstream", kept), startProcess("upstream", {})]);
  const upstreams = interfaces.flatMap((iface) => [
    { name: nameOf(iface), url: first.url, pin: iface.pin },
    { name: gone(iface), url: mortal.url, pin: iface.pin, hurry: HURRY },
  ]);
  gateway = await startProcess("gateway", { upstreams, leaseMs: LEASE_MS });
  await Promise.all(
    withTasks.map(async (iface) => {
      const stays = new Reading((await callerOf(gateway.url, nameOf(iface))).stream(counting(iface)));
      const goes = new Reading((await callerOf(gateway.url, gone(iface))).stream(counting(iface)));
      await Promise.all([stays, goes].map((each) => each.until(({ events }) => piecesOf(events).length === HOLD_AT)));
      begun.set(iface, { stays, goes });
    }),
  );
  for (const iface of withoutTasks) {
    const peer = await callerOf(gateway.url, gone(iface));
    const { id } = taskOf(await peer.start(`late ${nameOf(iface)}`));
    const asked = peer.ask(`late too-${nameOf(iface)}`).then(
      (answer) => new AgentError("internal", answer),
      (thrown: unknown) => AgentError.from(thrown),
    );
    unanswered.set(iface, { taskId: id, asked });
    await mortal.lineStarting(`heard {"text":"late ${nameOf(iface)}"`);
    await mortal.lineStarting(`heard {"text":"late too-${nameOf(iface)}"`);
  }
  await Promise.all([first.kill(), mortal.kill()]);
  durable = await startProcess("upstream", { ...kept, port: first.port });
  for (const iface of withTasks) durable.writeLine(`go ${nameOf(iface)}`);
}, START_MS);
afterAll(async () => {
  await closeCallers();
  await killProcesses();
  rmSync(folder, { recursive: true });
});

describe("the upstream is killed in the middle of a stream", () => {
  test.each(withTasks.map((iface) => [iface.pin, iface] as const))(
    "%s: it restarts with its tasks, and the caller's stream completes",
    async (_pin, iface) => {
      const stays = begun.get(iface)?.stays;
      await stays?.done;
      expect([stays?.broke, stays?.state]).toEqual([undefined, "completed"]);
      expect(heldBy(stays?.events ?? [])).toEqual(numbers(NUMBERS));
      // Taken over once by the restarted process; never sent a second time.
      expect(receivedBy(durable, counting(iface))).toHaveLength(1);
    },
    TEST_MS,
  );

  test.each(withTasks.filter(({ traits }) => traits.resume).map((iface) => [iface.pin, iface] as const))(
    "%s: the reader receives no event twice",
    async (_pin, iface) => {
      const stays = begun.get(iface)?.stays;
      await stays?.done;
      expect(piecesOf(stays?.events ?? [])).toEqual(numbers(NUMBERS));
    },
    TEST_MS,
  );

  test.each(withTasks.map((iface) => [iface.pin, iface] as const))(
    "%s: it stays down, and the caller's stream ends with a failed task and the reason",
    async (_pin, iface) => {
      const goes = begun.get(iface)?.goes;
      await goes?.done;
      expect([goes?.broke, goes?.state]).toEqual([undefined, "failed"]);
      expect(heldBy(goes?.events ?? [])).toEqual(numbers(HOLD_AT));
      const { status } = await (await callerOf(gateway.url, gone(iface))).getTask(goes?.taskId ?? "");
      const message = expect.stringContaining("became unavailable during its work");
      expect(status).toMatchObject({ error: { code: "unavailable", message } });
    },
    TEST_MS,
  );

  test.each(withoutTasks.map((iface) => [iface.pin, iface] as const))(
    "%s: without tasks nothing can be resumed, and the error says so",
    async (_pin, iface) => {
      const { taskId = "", asked } = unanswered.get(iface) ?? {};
      expect((await asked)?.code).toBe("lost_place");
      const peer = await callerOf(gateway.url, gone(iface));
      // Between Koine peers a receipt names the work: if it arrived before the kill, the work was followed like a task.
      const code = expect.stringMatching(/^(lost_place|unavailable)$/);
      const status = async () => (await peer.getTask(taskId)).status;
      await expect.poll(status, { timeout: SETTLED_MS }).toMatchObject({ state: "failed", error: { code } });
    },
    TEST_MS,
  );
});
