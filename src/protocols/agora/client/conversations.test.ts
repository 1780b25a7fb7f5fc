import { describe, expect, it } from "vitest";
import { AgentError, CancelSource, type Maybe } from "../../../envelope/index.js";
import { Conversations, type SessionMessage } from "./conversations.js";
import type { ReceivedReply } from "./post.js";

function received(conversationId: Maybe<string>, error?: AgentError): ReceivedReply {
  return { reply: { status: error === undefined ? "success" : "error", body: "", conversationId, metadata: {} }, error };
}

/** Records the conversation of each message; the script provides the replies. */
function speaking(table: Conversations, script: (id: Maybe<string>) => Promise<ReceivedReply>) {
  const went: Maybe<string>[] = [];
  const ended: string[] = [];
  const say = (more: Partial<SessionMessage> = {}): Promise<ReceivedReply> =>
    table.send({
      owner: "o",
      sessionId: "s",
      hash: "",
      cancel: new CancelSource(),
      send(id) {
        went.push(id);
        return script(id);
      },
      end: (id) => void ended.push(id),
      ...more,
    });
  return { say, went, ended };
}

describe("Conversations", () => {
  it("opens one with the first message of a session, and continues it", async () => {
    const { say, went } = speaking(new Conversations(), async () => received("c-1"));
    await say();
    await say();
    expect(went).toEqual([undefined, "c-1"]);
  });

  it("separates sessions, callers and documents, whatever their names", async () => {
    let opened = 0;
    const { say, went } = speaking(new Conversations(), async (id) => received(id ?? `c-${++opened}`));
    const speeches = [{}, { sessionId: "t" }, { owner: "p" }, { hash: "h" }, { owner: "os", sessionId: "" }];
    for (const speech of [...speeches, ...speeches]) await say(speech);
    expect(went).toEqual([undefined, undefined, undefined, undefined, undefined, "c-1", "c-2", "c-3", "c-4", "c-5"]);
  });

  it("lets a second message wait until the first has opened the conversation", async () => {
    let open: (value: ReceivedReply) => void = () => undefined;
    const { say, went } = speaking(new Conversations(), (id) =>
      id === undefined ? new Promise((resolve) => (open = resolve)) : Promise.resolve(received(undefined)),
    );
    const both = [say(), say()];
    await Promise.resolve();
    expect(went).toEqual([undefined]);
    open(received("c-1"));
    await Promise.all(both);
    expect(went).toEqual([undefined, "c-1"]);
  });

  it("lets the second open its own if the first failed, and stop waiting on cancellation", async () => {
    let fail: (thrown: unknown) => void = () => undefined;
    let first = true;
    const { say, went } = speaking(new Conversations(), () => {
      if (!first) return Promise.resolve(received("c-2"));
      first = false;
      return new Promise((_resolve, reject) => (fail = reject));
    });
    const cancel = new CancelSource();
    const [opening, waiting, giving] = [say(), say(), say({ cancel })];
    cancel.cancel(new AgentError("cancelled", "enough"));
    await expect(giving).rejects.toMatchObject({ message: "enough" });
    fail(new AgentError("unavailable", "nobody there"));
    await expect(opening).rejects.toMatchObject({ code: "unavailable" });
    await waiting;
    expect(went).toEqual([undefined, undefined]);
  });

  it("forgets one that the peer no longer knows", async () => {
    const gone = received(undefined, new AgentError("session_expired", "Conversation not found."));
    const { say, went } = speaking(new Conversations(), async (id) => (id === undefined ? received("c-1") : gone));
    await say();
    expect((await say()).error?.code).toBe("session_expired");
    await say();
    expect(went).toEqual([undefined, "c-1", undefined]);
  });

  it("forgets one after an error page of the peer, and keeps it after a connection error", async () => {
    let problem = new AgentError("unavailable", "reset", { sent: "maybe" });
    const { say, went } = speaking(new Conversations(), async (id) => {
      if (id === undefined) return received("c-1");
      throw problem;
    });
    await say();
    await say().catch(() => undefined);
    problem = new AgentError("bad_peer", "a page", { status: 500 });
    await say().catch(() => undefined);
    await say();
    expect(went).toEqual([undefined, "c-1", "c-1", undefined]);
  });

  it("keeps one that an error leaves open", async () => {
    const { say, went } = speaking(new Conversations(), async () => received("c-1", new AgentError("internal", "no")));
    await say();
    await say();
    expect(went).toEqual([undefined, "c-1"]);
  });

  it("opens one each time if the peer keeps none", async () => {
    const { say, went } = speaking(new Conversations(), async () => received(undefined));
    await say();
    await say();
    expect(went).toEqual([undefined, undefined]);
  });

  it("returns all conversations of a session when it is closed", async () => {
    const table = new Conversations();
    let opened = 0;
    const { say } = speaking(table, async () => received(`c-${++opened}`));
    await say();
    await say({ hash: "h" });
    await say({ sessionId: "t" });
    await expect(table.take("o", "s")).resolves.toEqual(["c-1", "c-2"]);
    await expect(table.take("o", "s")).resolves.toEqual([]);
  });

  it("limits the number of sessions, and of documents per session", async () => {
    let opened = 0;
    const table = new Conversations(4);
    const { say, went } = speaking(table, async (id) => received(id ?? `c-${++opened}`));
    for (let index = 0; index < 10; index++) await say({ sessionId: `s-${index}` });
    await say({ sessionId: "s-0" });
    expect(went.at(-1)).toBeUndefined();
    for (let index = 0; index < 20; index++) await say({ hash: `h-${index}` });
    await expect(table.take("o", "s")).resolves.toHaveLength(16);
  });

  it("ends the one that has been idle for longest, never one in use", async () => {
    const table = new Conversations();
    let opened = 0;
    let release: (value: ReceivedReply) => void = () => undefined;
    const { say, ended } = speaking(table, (id) => {
      if (id === "c-1") return new Promise((resolve) => (release = resolve));
      return Promise.resolve(received(id ?? `c-${++opened}`));
    });
    for (let index = 1; index <= 32; index++) await say({ sessionId: `s-${index}` });
    const inUse = say({ sessionId: "s-1" });
    await say({ sessionId: "s-2" });
    await say({ sessionId: "s-65" });
    expect(ended).toEqual(["c-3"]);
    expect(table.wasEnded("o", "s-3")).toBe(true);
    expect(table.wasEnded("o", "s-1")).toBe(false);
    release(received("c-1"));
    await inUse;
  });
});
