import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Server } from "../src/index.js";
import { ALICE, BOB, startGuardedKoine } from "./peers/koine.js";
import { ACP_PLAIN, ACP_REST, runBody } from "./wires/acp.js";
import { AGORA, agoraBody, postAgora } from "./wires/agora.js";
import { ask, at, JSON_RPC_0_3, JSON_RPC_1_0, REST_0_3, REST_1_0, type Sent, type Tree, type Wire } from "./wires/wire.js";

/** What one caller creates over any protocol belongs to it over every other, and is not found by other callers. */

let server: Server;
beforeAll(async () => {
  server = await startGuardedKoine();
});
afterAll(() => server?.close());

const as = (token: string): Sent["headers"] => ({ authorization: `Bearer ${token}` });
const alice = (sent: Sent, headers: Sent["headers"] = {}) => ask(server.url, sent, { ...headers, ...as(ALICE) });
const bob = (sent: Sent, headers: Sent["headers"] = {}) => ask(server.url, sent, { ...headers, ...as(BOB) });
const get = (path: string): Sent => ({ method: "GET", path, headers: {}, body: undefined });

/** A wire with tasks, and its error for an unknown one. */
interface TaskWire {
  readonly name: string;
  readonly wire: Wire;
  readonly notFound: unknown;
  make(words: string): Sent;
}

const sending = (wire: Wire) => (words: string) => wire.send(wire.params(words));
const WIRES: readonly TaskWire[] = [
  { wire: JSON_RPC_1_0, notFound: -32001, make: sending(JSON_RPC_1_0) },
  { wire: REST_1_0, notFound: 404, make: sending(REST_1_0) },
  { wire: JSON_RPC_0_3, notFound: -32001, make: sending(JSON_RPC_0_3) },
  { wire: REST_0_3, notFound: 404, make: sending(REST_0_3) },
  { wire: ACP_REST, notFound: "404 not_found", make: sending(ACP_REST) },
  { wire: ACP_PLAIN, notFound: expect.stringMatching(/^404 E_/), make: sending(ACP_PLAIN) },
  {
    wire: AGORA,
    notFound: 404,
    make: (words: string) => postAgora("/agora", agoraBody(words, { multiround: true, metadata: { koine: 1 } })),
  },
].map((each) => ({ ...each, name: each.wire.name }));

/** Every task operation of this wire: get, cancel, send. */
function requestsTo({ wire }: TaskWire, id: string): readonly Sent[] {
  const params = wire.params("42");
  const named = params["message"] !== undefined;
  if (named) (params["message"] as Tree)["taskId"] = id; // A2A's params hold a message object
  const requests = [
    wire.getTask?.(id),
    wire.cancelTask?.(id),
    wire.answerTask?.(id, "42"),
    named ? wire.send(params) : undefined,
  ];
  return requests.filter((sent) => sent !== undefined);
}

describe.each(WIRES)("a task that was made over $name", (maker) => {
  test("belongs to its owner over every protocol, and is not found by other callers", async () => {
    const made = await alice(maker.make("conform: ask"));
    const id = maker.wire.taskId(made.body);
    expect([made.status, id]).toEqual([200, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    for (const reader of WIRES) {
      const requests = requestsTo(reader, id);
      expect(requests.length).toBeGreaterThan(1);
      for (const sent of requests) {
        const refused = await bob(sent);
        expect([reader.name, reader.wire.refused(refused.status, refused.body).code]).toEqual([reader.name, reader.notFound]);
        expect(JSON.stringify(refused.body)).not.toContain("what is the answer?");
      }
    }
    // The other caller's attempts changed nothing: the owner reads the question over every wire.
    for (const reader of WIRES) {
      const shown = await alice(reader.wire.getTask?.(id) ?? get("/none"));
      expect([reader.name, shown.status]).toEqual([reader.name, 200]);
      expect(JSON.stringify(shown.body)).toContain("what is the answer?");
    }
    const answered = await alice(ACP_REST.answerTask(id, "42"));
    expect([answered.status, at(answered.body, "status"), ACP_REST.text(answered.body)]).toEqual([
      200,
      "completed",
      "the answer was: 42",
    ]);
  });
});

describe("the log of a run", () => {
  test("is its owner's, read or followed", async () => {
    const id = JSON_RPC_1_0.taskId((await alice(JSON_RPC_1_0.send(JSON_RPC_1_0.params("conform: task")))).body);
    const log = get(`/runs/${id}/events`);
    const mine = await alice(log);
    expect([mine.status, JSON.stringify(mine.body)]).toEqual([200, expect.stringContaining("done")]);
    for (const headers of [{}, { accept: "text/event-stream" }]) {
      const { status, body } = await bob(log, headers);
      expect(ACP_REST.refused(status, body).code).toBe("404 not_found");
    }
  });
});

describe("a session", () => {
  const session = crypto.randomUUID();
  let resources: readonly string[] = [];

  test("contains all that its owner did in it over any wire", async () => {
    await alice(ACP_REST.send(runBody("from acp", { session_id: session })));
    const message = { ...(JSON_RPC_1_0.params("conform: task")["message"] as Tree), contextId: session }; // an object of ours
    await alice(JSON_RPC_1_0.send({ message }));
    for (const path of [`/sessions/${session}`, `/session/${session}`]) {
      const { status, body } = await alice(get(path));
      expect([status, at(body, "id")]).toEqual([200, session]);
      resources = at(body, "history") as readonly string[];
    }
    const words: unknown[] = [];
    for (const url of resources) {
      const { status, body } = await alice(get(new URL(url).pathname));
      expect(status).toBe(200);
      words.push(at(body, "parts", 0, "content"));
    }
    expect(words).toEqual(["from acp", "you said: from acp", "conform: task", "done", "finished"]);
  });

  test("is not found by other callers, nor is any of its messages", async () => {
    for (const path of [`/sessions/${session}`, `/session/${session}`, ...resources.map((url) => new URL(url).pathname)]) {
      const { status, body } = await bob(get(path));
      expect([path, ACP_REST.refused(status, body).code]).toEqual([path, "404 not_found"]);
    }
  });

  test("of the same name is separate per caller", async () => {
    await bob(ACP_REST.send(runBody("from bob", { session_id: session })));
    const { body } = await bob(get(`/sessions/${session}`));
    const theirs = at(body, "history") as readonly string[];
    expect(theirs).toHaveLength(2);
    expect(theirs.filter((url) => resources.includes(url))).toEqual([]);
    expect(at((await alice(get(`/sessions/${session}`))).body, "history")).toEqual(resources);
  });
});

describe("a conversation", () => {
  const gone = { code: 404, message: "Conversation not found." };

  test("is found by its owner only", async () => {
    const opened = await alice(postAgora("/", agoraBody("conform: ask", { multiround: true })));
    const path = `/conversations/${at(opened.body, "conversationId")}`;
    expect(AGORA.text(opened.body)).toBe("what is the answer?");
    const other = await bob(postAgora(path, agoraBody("42")));
    expect(AGORA.refused(other.status, other.body)).toEqual(gone);
    // Closing an unknown conversation succeeds and closes nothing.
    expect(await bob({ method: "DELETE", path, headers: {}, body: undefined })).toEqual({
      status: 200,
      body: { status: "success" },
    });
    expect(AGORA.text((await alice(postAgora(path, agoraBody("42")))).body)).toBe("the answer was: 42");
    await alice({ method: "DELETE", path, headers: {}, body: undefined });
    const after = await alice(postAgora(path, agoraBody("more")));
    expect(AGORA.refused(after.status, after.body)).toEqual(gone);
  });

  test("is a session of its caller on the other wires too", async () => {
    const opened = await alice(postAgora("/", agoraBody("hello", { multiround: true })));
    const session = String(at(opened.body, "conversationId"));
    expect((await alice(get(`/sessions/${session}`))).status).toBe(200);
    expect((await bob(get(`/sessions/${session}`))).status).toBe(404);
  });
});

describe("a protocol document", () => {
  test("that came with a message is not served to other callers", async () => {
    const text = "---\nname: Secret\ndescription: of alice\nmultiround: false\n---\nWhat only alice agreed on.";
    const protocolHash = createHash("sha1").update(text).digest("base64");
    const source = `data:text/plain;charset=utf-8;base64,${Buffer.from(text).toString("base64")}`;
    const refused = await alice(postAgora("/", agoraBody("hello", { protocolHash, protocolSources: [source] })));
    expect(AGORA.refused(refused.status, refused.body)).toEqual({
      code: 422,
      message: `${protocolHash} is not suitable for execution`,
    });
    for (const caller of [alice, bob]) {
      const { status, body } = await caller(get(`/protocols/${encodeURIComponent(protocolHash)}`));
      expect(AGORA.refused(status, body).code).toBe(404);
      for (const path of ["/.wellknown", "/wellknown", "/.well-known/agora"])
        expect(JSON.stringify((await caller(get(path))).body)).not.toContain(protocolHash);
    }
  });
});
