import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RedisServer, redisAvailable, startRedis } from "./redis-server.js";
import { killReplicas, type ReplicaProcess, startReplica } from "./replica-process.js";
import { ACP_REST, resumeBody, runBody } from "./wires/acp.js";
import { AGORA, agoraBody, postAgora } from "./wires/agora.js";
import { ask, at, type Sent, type Tree } from "./wires/wire.js";

/** BeeAI ACP runs and Agora conversations continue on another process after the first was killed. */

const LEASE_MS = 1_000;
const WAIT_MS = 15_000;
const available = await redisAvailable();
const get = (path: string): Sent => ({ method: "GET", path, headers: {}, body: undefined });
const run = (words: string, more: Tree = {}): Sent => ACP_REST.send({ ...runBody(words, more), agent_name: "talks" });
const say = (words: string, more: Tree = {}): Sent => postAgora("/agora/talks", agoraBody(words, more));

afterAll(killReplicas);

/** The ids of the started work, as its caller keeps them. */
interface Begun {
  readonly awaiting: string;
  readonly working: string;
  readonly session: string;
  readonly asked: string;
  readonly chatting: string;
  readonly receipt: string;
  readonly collecting: string;
  readonly hash: string;
  readonly key: string;
}

const TEXT = "---\nname: Kept\ndescription: for later\nmultiround: false\n---\nNobody here follows this.";
const HASH = createHash("sha1").update(TEXT).digest("base64");
const SLOW_MS = 1_500;

async function begin(url: string): Promise<Begun> {
  const [session, key] = [crypto.randomUUID(), crypto.randomUUID()];
  const awaiting = await ask(url, run("ask"), { "idempotency-key": key });
  expect(at(awaiting.body, "status")).toBe("awaiting");
  await ask(url, run("0 hello", { session_id: session }));
  const asked = await ask(url, say("ask", { multiround: true }));
  const chatting = await ask(url, say("0 hello", { multiround: true }));
  expect([AGORA.text(asked.body), AGORA.text(chatting.body)]).toEqual(["which?", "said: hello"]);
  const source = `data:text/plain;charset=utf-8;base64,${Buffer.from(TEXT).toString("base64")}`;
  const learned = await ask(url, say("0 x", { protocolHash: HASH, protocolSources: [source] }));
  expect(AGORA.refused(learned.status, learned.body).message).toBe(`${HASH} is not suitable for execution`);
  // The last two are still at work when their process is killed.
  const working = await ask(url, run(`${SLOW_MS} run`, { mode: "async" }));
  const receipt = await ask(url, say(`${SLOW_MS} receipt`, { multiround: true, metadata: { koine: 1, prefer: "receipt" } }));
  return {
    awaiting: ACP_REST.taskId(awaiting.body),
    working: ACP_REST.taskId(working.body),
    session,
    asked: conversationIn(asked.body),
    chatting: conversationIn(chatting.body),
    receipt: AGORA.taskId(receipt.body),
    collecting: conversationIn(receipt.body),
    hash: HASH,
    key,
  };
}

const conversationIn = (body: unknown): string => `/conversations/${at(body, "conversationId")}`;

/** All work that was started elsewhere continues here. */
async function goOn(url: string, begun: Begun): Promise<void> {
  // An awaiting run: shown, found by its key, resumed, and completed.
  const shown = await ask(url, get(`/runs/${begun.awaiting}`));
  expect([at(shown.body, "status"), at(shown.body, "agent_name")]).toEqual(["awaiting", "talks"]);
  expect(at(shown.body, "await_request", "message", "parts", 0, "content")).toBe("which?");
  expect(ACP_REST.taskId((await ask(url, run("ask"), { "idempotency-key": begun.key })).body)).toBe(begun.awaiting);
  const resumed = await ask(url, { ...ACP_REST.send(resumeBody("that")), path: `/runs/${begun.awaiting}` });
  expect([at(resumed.body, "status"), ACP_REST.text(resumed.body)]).toEqual(["completed", "heard: that"]);
  const log = await ask(url, get(`/runs/${begun.awaiting}/events`));
  const types = (at(log.body, "events") as readonly Tree[]).map(({ type }) => type);
  expect([types[0], types.includes("run.awaiting"), types.at(-1)]).toEqual(["run.created", true, "run.completed"]);

  const session = await ask(url, get(`/sessions/${begun.session}`));
  const history = at(session.body, "history") as readonly string[];
  const message = await ask(url, get(new URL(history[1] ?? "").pathname));
  expect([history.length, at(message.body, "parts", 0, "content")]).toEqual([2, "said: hello"]);

  // Conversations: with an open question, without one, and with a document sent before.
  expect(AGORA.text((await ask(url, postAgora(begun.asked, agoraBody("this")))).body)).toBe("heard: this");
  expect(AGORA.text((await ask(url, postAgora(begun.chatting, agoraBody("0 again")))).body)).toBe("said: again");
  const known = await ask(url, say("0 x", { protocolHash: begun.hash, protocolSources: [] }));
  expect(AGORA.refused(known.status, known.body).message).toBe(`${begun.hash} is not suitable for execution`);

  // Interrupted work is completed by another process: the run is read, the receipt collected.
  const status = async () => at((await ask(url, get(`/runs/${begun.working}`))).body, "status");
  await expect.poll(status, { timeout: WAIT_MS, interval: 100 }).toBe("completed");
  const collected = await ask(url, postAgora(begun.collecting, agoraBody("and?")));
  expect(AGORA.text(collected.body)).toBe("said: receipt");
  const asked = await ask(url, AGORA.getTask?.(begun.receipt) ?? get("/none"));
  expect([AGORA.text(asked.body), AGORA.taskId(asked.body)]).toEqual(["said: receipt", begun.receipt]);

  // A conversation that is ended here is ended on every process.
  await ask(url, { method: "DELETE", path: begun.chatting, headers: {}, body: undefined });
}

async function expectEnded(url: string, { chatting }: Begun): Promise<void> {
  const { status, body } = await ask(url, postAgora(chatting, agoraBody("0 x")));
  expect(AGORA.refused(status, body)).toEqual({ code: 404, message: "Conversation not found." });
}

describe("a server on a file that is killed", () => {
  const folder = mkdtempSync(join(tmpdir(), "koine-durable-wires-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("continues runs, conversations, receipts and documents after a restart", async () => {
    const facts = { file: join(folder, "tasks.db"), leaseMs: LEASE_MS };
    const first = await startReplica(facts);
    const begun = await begin(first.url);
    await first.kill();
    const second = await startReplica(facts);
    await goOn(second.url, begun);
    await second.kill();
    await expectEnded((await startReplica(facts)).url, begun);
  }, 60_000);
});

describe.skipIf(!available)("replicas on one Redis", () => {
  let redis: RedisServer;
  let replicas: readonly ReplicaProcess[] = [];
  beforeAll(async () => {
    redis = await startRedis({ appendfsync: "always" });
    const start = () => startReplica({ redisUrl: redis.url, leaseMs: LEASE_MS });
    replicas = await Promise.all([start(), start()]);
  }, 60_000);
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await redis?.stop();
  });

  test("continue the work of a replica that was killed", async () => {
    const [first, second] = replicas;
    const begun = await begin(first?.url ?? "");
    await first?.kill();
    await goOn(second?.url ?? "", begun);
    await expectEnded(second?.url ?? "", begun);
  }, 60_000);
});
