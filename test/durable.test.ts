import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { chance } from "../bench/harness/chance.js";
import {
  AgentError,
  type AgentEvent,
  connect,
  DiscoveryCache,
  openSqliteStore,
  type RemoteAgent,
  type Store,
} from "../src/index.js";
import { Hook } from "./push-hook.js";
import { ended, killReplicas, numbersOf, startReplica, upTo } from "./replica-process.js";

const folder = mkdtempSync(join(tmpdir(), "koine-durable-"));
const OWNER = "anonymous:anonymous";
const LEASE_MS = 1_000;
const WAIT_MS = 15_000;
const SEED = 20_260_401;
const KILLS = 4;
const NUMBERS = 40;
/** About a second of work, so that every kill interrupts some. */
const COUNTING = `${NUMBERS} 25 0`;

/** An entry that a client received: its position in the journal, and its text. */
interface Got {
  readonly seq: number;
  readonly text: string;
}

const open: { close(): unknown }[] = [];
afterAll(async () => {
  await Promise.all(open.map((each) => each.close()));
  await killReplicas();
  rmSync(folder, { recursive: true });
});

async function peerOf(url: string, agent: string): Promise<RemoteAgent> {
  const peer = await connect(`${url}/a2a/${agent}`, { discoveryCache: new DiscoveryCache(), resume: false });
  open.push(peer);
  return peer;
}

/** A status or a chunk of an artifact as one line; a task is a snapshot, and an entry only if it is the first. */
function lineOf(event: Pick<AgentEvent, "kind">): string {
  if (event.kind === "status" && "status" in event) return JSON.stringify(event.status);
  return event.kind === "artifact" && "artifact" in event ? JSON.stringify(event.artifact) : event.kind;
}

function seqOf(event: AgentEvent): number {
  return Number.parseInt(event.cursor?.split(".")[0] ?? "", 36);
}

/** Reads until the stream ends or breaks, and records every entry and the error. */
async function follow(stream: AsyncIterable<AgentEvent>, got: Got[], broke: Set<string>): Promise<string> {
  let taskId = "";
  try {
    for await (const event of stream) {
      if (event.kind === "task") taskId = event.task.id;
      else got.push({ seq: seqOf(event), text: lineOf(event) });
    }
  } catch (thrown) {
    broke.add(AgentError.from(thrown).code);
  }
  return taskId;
}

async function journalOf(store: Store, taskId: string): Promise<readonly string[]> {
  const page = await store.read(taskId, OWNER, 0, 10_000);
  return (page?.entries ?? []).map(({ event }) => lineOf(event));
}

describe("a server on a file that is killed again and again", () => {
  test("keeps every event a client received, settles every task, and continues to notify webhooks", async () => {
    const facts = { file: join(folder, "tasks.db"), leaseMs: LEASE_MS, push: true };
    const random = chance(SEED);
    const hook = await Hook.open();
    open.push(hook);
    const broke = new Set<string>();
    const clients: { readonly agent: string; readonly got: Got[]; readonly taskId: Promise<string> }[] = [];
    for (let round = 0; round < KILLS; round++) {
      const server = await startReplica(facts);
      for (const agent of ["once", "again"]) {
        const peer = await peerOf(server.url, agent);
        const push = round === 0 && agent === "again" ? { push: { taskId: "", id: "hook", url: hook.url } } : {};
        for (let client = 0; client < 4; client++) {
          const got: Got[] = [];
          clients.push({ agent, got, taskId: follow(peer.stream(COUNTING, client === 0 ? push : {}), got, broke) });
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 300 + random() * 600));
      await server.kill();
    }
    const { url } = await startReplica(facts);
    const peer = await peerOf(url, "once");
    const store = await openSqliteStore({ file: facts.file, now: Date.now });
    open.push({ close: () => store.close?.() });
    const outcomes: string[] = [];
    for (const { agent, got, taskId } of clients) {
      const id = await taskId;
      // A stream that broke before its first event has no task id.
      if (id === "") continue;
      const { status, artifacts } = await ended(peer, id, LEASE_MS + WAIT_MS);
      const journal = await journalOf(store, id);
      expect(got.map(({ seq, text }) => journal[seq - 1] === text)).toEqual(got.map(() => true));
      expect(got.map(({ seq }) => seq)).toEqual(got.map((_, index) => (got[0]?.seq ?? 0) + index));
      const outcome = status.state === "failed" ? status.error?.code : `${status.state} ${artifacts.flatMap(numbersOf).join()}`;
      outcomes.push(`${agent} ${outcome}`);
    }
    const completed = `completed ${upTo(NUMBERS).join()}`;
    const allowed = ["once lost_place", `once ${completed}`, `again ${completed}`];
    expect(outcomes.filter((each) => !allowed.includes(each))).toEqual([]);
    expect(outcomes).toEqual(expect.arrayContaining(["once lost_place", `again ${completed}`]));
    expect([...broke].filter((code) => code !== "unavailable" && code !== "interrupted")).toEqual([]);
    expect(clients.flatMap(({ got }) => got).length).toBeGreaterThan(NUMBERS);
    const notified = await (clients[4]?.taskId ?? "");
    const { length } = await journalOf(store, notified);
    const seqs = () => hook.got.map(({ headers }) => Number(String(headers["idempotency-key"]).split(":").at(-1)));
    await expect.poll(() => seqs().at(-1), { timeout: WAIT_MS, interval: 50 }).toBe(length);
    // In order and without a gap; a notification in flight when its sender was killed is sent twice.
    expect([...new Set(seqs())]).toEqual(Array.from({ length }, (_, index) => index + 1));
    expect(seqs().every((seq, index) => index === 0 || seq - (seqs()[index - 1] ?? 0) <= 1)).toBe(true);
    expect(seqs().length).toBeLessThanOrEqual(length + KILLS);
  }, 60_000);
});
