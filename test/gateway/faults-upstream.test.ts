import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentError } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { interfacesOf, type PinnedInterface } from "./pairs/interfaces.js";
import { callerOf, closeCallers, heldBy, nameOf, numbers, piecesOf, Reading, taskOf } from "./processes/callers.js";
import { heardBy, killProcesses, type OwnProcess, startProcess } from "./processes/start.js";

/** The agent behind a gateway dies in the middle of a stream: it comes back, or it does not. */

const folder = mkdtempSync(join(tmpdir(), "koine-upstream-"));
const ways = await interfacesOf(protocols);
const withTasks = ways.filter(({ traits }) => traits.tasks);
const withoutTasks = ways.filter(({ traits }) => !traits.tasks);
const LEASE_MS = 1_000;
const START_MS = 90_000;
const TEST_MS = 60_000;
const SETTLED_MS = 15_000;
const NUMBERS = 6;
const HOLD_AT = 3;
/** Minutes of waiting between tries become seconds. */
const HURRY = 40;

const gone = (way: PinnedInterface): string => `gone-${nameOf(way)}`;
const counting = (way: PinnedInterface): string => `count ${NUMBERS} ${HOLD_AT} ${nameOf(way)}`;

let durable: OwnProcess;
let gateway: OwnProcess;
const begun = new Map<PinnedInterface, { readonly stays: Reading; readonly goes: Reading }>();
const unanswered = new Map<PinnedInterface, { readonly taskId: string; readonly asked: Promise<AgentError> }>();

beforeAll(async () => {
  const kept = { file: join(folder, "upstream.db"), leaseMs: LEASE_MS };
  const [first, mortal] = await Promise.all([startProcess("upstream", kept), startProcess("upstream", {})]);
  const upstreams = ways.flatMap((way) => [
    { name: nameOf(way), url: first.url, pin: way.pin },
    { name: gone(way), url: mortal.url, pin: way.pin, hurry: HURRY },
  ]);
  gateway = await startProcess("gateway", { upstreams, leaseMs: LEASE_MS });
  await Promise.all(
    withTasks.map(async (way) => {
      const stays = new Reading((await callerOf(gateway.url, nameOf(way))).stream(counting(way)));
      const goes = new Reading((await callerOf(gateway.url, gone(way))).stream(counting(way)));
      await Promise.all([stays, goes].map((each) => each.until(({ events }) => piecesOf(events).length === HOLD_AT)));
      begun.set(way, { stays, goes });
    }),
  );
  for (const way of withoutTasks) {
    const peer = await callerOf(gateway.url, gone(way));
    const { id } = taskOf(await peer.start(`late ${nameOf(way)}`));
    const asked = peer.ask(`late too-${nameOf(way)}`).then(
      (answer) => new AgentError("internal", answer),
      (thrown: unknown) => AgentError.from(thrown),
    );
    unanswered.set(way, { taskId: id, asked });
    await mortal.saying(`heard {"text":"late ${nameOf(way)}"`);
    await mortal.saying(`heard {"text":"late too-${nameOf(way)}"`);
  }
  await Promise.all([first.kill(), mortal.kill()]);
  durable = await startProcess("upstream", { ...kept, port: first.port });
  for (const way of withTasks) durable.tell(`go ${nameOf(way)}`);
}, START_MS);
afterAll(async () => {
  await closeCallers();
  await killProcesses();
  rmSync(folder, { recursive: true });
});

describe("the agent behind is killed in the middle of a stream", () => {
  test.each(withTasks.map((way) => [way.pin, way] as const))(
    "%s: it comes back with its tasks, and the caller's stream ends whole",
    async (_pin, way) => {
      const stays = begun.get(way)?.stays;
      await stays?.done;
      expect([stays?.broke, stays?.state]).toEqual([undefined, "completed"]);
      expect(heldBy(stays?.events ?? [])).toEqual(numbers(NUMBERS));
      // Taken over once by the process that came back; never sent a second time.
      expect(heardBy(durable, counting(way))).toHaveLength(1);
    },
    TEST_MS,
  );

  test.each(withTasks.filter(({ traits }) => traits.resume).map((way) => [way.pin, way] as const))(
    "%s: what its reader had was not told again",
    async (_pin, way) => {
      const stays = begun.get(way)?.stays;
      await stays?.done;
      expect(piecesOf(stays?.events ?? [])).toEqual(numbers(NUMBERS));
    },
    TEST_MS,
  );

  test.each(withTasks.map((way) => [way.pin, way] as const))(
    "%s: it stays away, and the caller's stream ends with a task that failed and says why",
    async (_pin, way) => {
      const goes = begun.get(way)?.goes;
      await goes?.done;
      expect([goes?.broke, goes?.state]).toEqual([undefined, "failed"]);
      expect(heldBy(goes?.events ?? [])).toEqual(numbers(HOLD_AT));
      const { status } = await (await callerOf(gateway.url, gone(way))).getTask(goes?.taskId ?? "");
      const message = expect.stringContaining("became unavailable during its work");
      expect(status).toMatchObject({ error: { code: "unavailable", message } });
    },
    TEST_MS,
  );

  test.each(withoutTasks.map((way) => [way.pin, way] as const))(
    "%s: without tasks there is nothing to come back to, and that is said",
    async (_pin, way) => {
      const { taskId = "", asked } = unanswered.get(way) ?? {};
      expect((await asked)?.code).toBe("lost_place");
      const peer = await callerOf(gateway.url, gone(way));
      // Between two of ours a receipt names the work: where it came before the end, the work was waited for as a task is.
      const code = expect.stringMatching(/^(lost_place|unavailable)$/);
      const status = async () => (await peer.getTask(taskId)).status;
      await expect.poll(status, { timeout: SETTLED_MS }).toMatchObject({ state: "failed", error: { code } });
    },
    TEST_MS,
  );
});
