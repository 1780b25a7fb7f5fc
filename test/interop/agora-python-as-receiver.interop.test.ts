import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentError, connect, DiscoveryCache, type Loss, type RemoteAgent } from "../../src/index.js";
import { isPromise } from "../../src/internal.js";
import { type AgoraOptions, createAgora } from "../../src/protocols/agora/index.js";
import { startCall } from "../../src/public/protocols.js";
import type { LanguageModel } from "../../src/router/models/index.js";
import type { HttpRequest, Link } from "../../src/transport/exchange.js";
import { poolLink } from "../../src/transport/node/index.js";
import { LIST, TEMPERATURE, UNSERVED } from "../peers/agora.js";
import type { OfficialServer } from "../peers/official.js";
import { pythonFor, startPython } from "./python.js";

const PLAIN = "A document without front matter: nobody can read it there.";
const DOCUMENTS = [TEMPERATURE, LIST, UNSERVED, PLAIN];

function startReceiver(): Promise<OfficialServer> {
  return startPython({ environment: "agora-0.2.0", file: "agora_receiver" });
}

/** Our client and its requests, abbreviated. */
interface Watched {
  readonly remote: RemoteAgent;
  take(): readonly string[];
  close(): Promise<void>;
}

async function connectTo(server: OfficialServer, options: AgoraOptions): Promise<Watched> {
  const pool = poolLink();
  let lines: string[] = [];
  const link: Link = {
    exchange(request) {
      lines.push(shortLine(request));
      return pool.exchange(request);
    },
    close: () => pool.close(),
  };
  const remote = await connect(server.url, { protocols: [createAgora(options)], link, discoveryCache: new DiscoveryCache() });
  return {
    remote,
    take() {
      const taken = lines;
      lines = [];
      return taken;
    },
    async close() {
      await remote.close();
      await pool.close();
    },
  };
}

function shortLine({ method, path, body }: HttpRequest): string {
  const target = `${method} ${path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "ID")}`;
  if (body.length === 0) return target;
  const { protocolHash, protocolSources, multiround } = JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>;
  const named = protocolHash === null || protocolHash === "negotiation" ? String(protocolHash) : "document";
  const sources = Array.isArray(protocolSources) ? protocolSources.map((each: string) => each.split(",")[0]) : protocolSources;
  return `${target} ${named} ${JSON.stringify(sources)} ${multiround === true ? "multiround" : "single"}`;
}

const URI = '["data:text/plain;charset=utf-8"]';

async function refusal(answer: Promise<unknown>): Promise<readonly unknown[]> {
  try {
    return ["answered", await answer];
  } catch (thrown) {
    return thrown instanceof AgentError ? [thrown.code, thrown.message] : [thrown];
  }
}

describe.skipIf(pythonFor("agora-0.2.0") === undefined)("our client against the receiver of agora-protocol 0.2.0", () => {
  let server: OfficialServer;
  let client: Watched;
  let remote: RemoteAgent;
  beforeAll(async () => {
    server = await startReceiver();
    client = await connectTo(server, { documents: DOCUMENTS });
    remote = client.remote;
  });
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  test("finds it without sending a message", () => {
    expect([remote.protocol, remote.version, remote.binding, remote.verified]).toEqual(["agora", "0.2", "HTTP", true]);
    expect(remote.evidence.join("\n")).toContain("no discovery document, but deleting an unknown conversation succeeds");
    expect(client.take().filter((line) => line.startsWith("POST"))).toEqual([]);
    expect(remote.card.capabilities).toMatchObject({ streaming: false, idempotentSend: false });
  });

  test("natural language: one message, one answer, no conversation", async () => {
    client.take();
    expect(await remote.ask("hello Zürich")).toBe("you said: hello Zürich");
    expect(client.take()).toEqual(["POST / null [] single"]);
  });

  test("a session is a conversation, two are two, and closing one deletes it", async () => {
    client.take();
    expect(await remote.ask("conform: count", { session: "one" })).toBe("message 1 of this conversation");
    expect(await remote.ask("conform: count", { session: "one" })).toBe("message 2 of this conversation");
    expect(await remote.ask("conform: count", { session: "two" })).toBe("message 1 of this conversation");
    expect(await remote.ask("conform: count", { session: "one" })).toBe("message 3 of this conversation");
    for (const sessionId of ["one", "one", "never"]) await remote.handler({ kind: "session.close", sessionId }, startCall());
    expect(await remote.ask("conform: count", { session: "one" })).toBe("message 1 of this conversation");
    const first = "POST / null [] multiround";
    const next = "POST /conversations/ID null [] multiround";
    expect(client.take()).toEqual([first, next, first, next, "DELETE /conversations/ID", first]);
  });

  test("a conversation that it has dropped is expired for us, and the next message opens another", async () => {
    expect(await remote.ask("conform: count", { session: "lost" })).toBe("message 1 of this conversation");
    expect(await remote.ask("conform: forget")).toBe("forgotten");
    expect(await refusal(remote.ask("still there?", { session: "lost" }))).toEqual([
      "session_expired",
      "Conversation not found.",
    ]);
    expect(await remote.ask("conform: count", { session: "lost" })).toBe("message 1 of this conversation");
  });

  test("by a document: its model follows it, and from the fifth use its routine", async () => {
    client.take();
    const answers: unknown[] = [];
    for (let use = 1; use <= 6; use++) answers.push(JSON.parse(await remote.ask({ city: "Paris" }, { intent: "Temperature" })));
    const byModel = { by: "model", round: 1, got: '{"city":"Paris"}', temperature: 21 };
    const byRoutine = { by: "routine", got: { city: "Paris" }, temperature: 21 };
    expect(answers).toEqual([byModel, byModel, byModel, byModel, byRoutine, byRoutine]);
    expect(client.take()).toEqual(Array<string>(6).fill(`POST / document ${URI} single`));
  });

  test("by a document of several rounds, in a session", async () => {
    client.take();
    const rounds: unknown[] = [];
    for (const entry of ["one", "two"])
      rounds.push(JSON.parse(await remote.ask(entry, { intent: "List", session: "list" })) as unknown);
    expect(rounds).toMatchObject([
      { round: 1, got: "one" },
      { round: 2, got: "two" },
    ]);
    expect(client.take()).toEqual([`POST / document ${URI} multiround`, `POST /conversations/ID document ${URI} multiround`]);
  });

  test("errors are errors, although it answers them with 200", async () => {
    expect(await refusal(remote.ask("{}", { intent: "Impossible" }))).toEqual([
      "unsupported",
      "hyKn4D45kTdjlG26vjlrSzzaYVM= is not suitable for execution",
    ]);
    expect(await refusal(remote.ask("{}", { intent: "Unnamed protocol" }))).toEqual([
      "bad_peer",
      "'NoneType' object has no attribute 'read'",
    ]);
    expect(await refusal(remote.ask("conform: throw"))).toEqual(["bad_peer", "inner secret: this must not leave the process"]);
    await remote.ask("hello", { session: "broken" });
    expect(await refusal(remote.ask("conform: throw", { session: "broken" }))).toEqual([
      "bad_peer",
      "the peer answered with HTTP status 500",
    ]);
    expect(await remote.ask("hello")).toBe("you said: hello");
  });

  test("unsupported operations are refused before anything is sent, or emulated and reported", async () => {
    client.take();
    expect(await refusal(remote.getTask("t-1"))).toEqual(["unsupported_method", "Agora has no task.get"]);
    expect(await refusal(remote.cancelTask("t-1"))).toEqual(["unsupported_method", "Agora has no task.cancel"]);
    expect(client.take()).toEqual([]);
    const events: unknown[] = [];
    for await (const event of remote.stream("hello")) events.push(event.kind);
    expect(events).toEqual(["message"]);
    expect((await remote.start("hello")).kind).toBe("message");
  });

  test("content other than text is reported as lost", async () => {
    const losses: Loss[] = [];
    const { envelope, rest } = sending();
    const reply = remote.handler({ ...rest, envelope }, startCall({ reportLoss: (loss) => losses.push(loss) }));
    const event = isPromise(reply) ? await reply : undefined;
    expect(event?.kind === "message" && event.message.content).toEqual([
      { kind: "text", text: "you said: look\n[not included, because Agora carries text only: image/png, 2 bytes]" },
    ]);
    expect(losses.map(({ path }) => path)).toEqual(["message.parts[1]", "message.context.priority"]);
  });
});

/** A message with more members than Agora can carry to a foreign peer. */
function sending() {
  const envelope = {
    id: "m-1",
    ts: 1,
    src: "us",
    dst: "them",
    intent: "",
    role: "user",
    content: [
      { kind: "text", text: "look" },
      { kind: "raw", bytes: new Uint8Array([1, 2]), mediaType: "image/png" },
    ],
    context: { priority: 3 },
    meta: {},
  } as const;
  return { envelope, rest: { kind: "send", delivery: "answer", task: "auto" } as const };
}

/** The model's answer to each kind of question of our sender. */
function scriptedModel(asked: string[]): LanguageModel {
  return {
    async complete({ system = "", messages }) {
      const question = messages.at(-1)?.content ?? "";
      if (system.startsWith("You negotiate")) {
        asked.push("negotiation");
        return question.includes("name: Temperature")
          ? `<FINALPROTOCOL>\n${TEMPERATURE}\n</FINALPROTOCOL>`
          : "Which document shall we use?";
      }
      asked.push("conversation");
      return system.startsWith("You ask a service") ? "How warm is it in Paris?" : '{"city":"Paris"}';
    },
  };
}

describe.skipIf(pythonFor("agora-0.2.0") === undefined)("our sender against the receiver of agora-protocol 0.2.0", () => {
  test("18 equal tasks: ten in natural language, a negotiation, then by the document, finally without any model", async () => {
    const server = await startReceiver();
    const asked: string[] = [];
    const routine = {
      task: "temperature",
      document: TEMPERATURE,
      send: async (_data: unknown, ask: (body: string) => Promise<string>) => `${await ask('{"city":"Paris"}')} by our routine`,
    };
    const task = { id: "temperature", description: "the temperature of a city" };
    const sender = { tasks: [task], routines: [routine], model: scriptedModel(asked) };
    const client = await connectTo(server, { sender });
    client.take();
    const seen: unknown[] = [];
    for (let number = 1; number <= 18; number++) {
      const answer = await client.remote.ask({ city: "Paris" }, { intent: "temperature" });
      seen.push([answer.replace(/"got".*"temp/, '"temp'), client.take(), asked.splice(0)]);
    }
    await client.close();
    await server.close();

    const natural = ["It is 21 degrees.", ["POST / null [] multiround", "DELETE /conversations/ID"], ["conversation"]];
    const negotiated = [
      ...["POST / negotiation null multiround", "POST /conversations/ID negotiation null multiround", "DELETE /conversations/ID"],
      `POST / document ${URI} single`,
    ];
    const byModel = '{"by": "model", "round": 1, "temperature": 21}';
    const byRoutine = '{"by": "routine", "temperature": 21}';
    const single = [`POST / document ${URI} single`];
    expect(seen).toEqual([
      ...Array<unknown>(10).fill(natural),
      [byModel, negotiated, ["negotiation", "negotiation", "conversation"]],
      ...Array<unknown>(3).fill([byModel, single, ["conversation"]]),
      [byRoutine, single, ["conversation"]],
      ...Array<unknown>(3).fill([`${byRoutine} by our routine`, single, []]),
    ]);
  });
});
