import { describe, expect, it } from "vitest";
import { AgentError, CancelSource, type Maybe } from "../../../envelope/index.js";
import { Conversations, type Speech } from "./conversations.js";
import type { Heard } from "./post.js";

function heard(conversationId: Maybe<string>, error?: AgentError): Heard {
  return { reply: { status: error === undefined ? "success" : "error", body: "", conversationId, metadata: {} }, error };
}

/** Notes into which conversation each message went; the script says what comes back. */
function speaking(table: Conversations, script: (id: Maybe<string>) => Promise<Heard>) {
  const went: Maybe<string>[] = [];
  const say = (more: Partial<Speech> = {}): Promise<Heard> =>
    table.say({
      owner: "o",
      sessionId: "s",
      hash: "",
      cancel: new CancelSource(),
      send(id) {
        went.push(id);
        return script(id);
      },
      ...more,
    });
  return { say, went };
}

describe("Conversations", () => {
  it("opens one with the first message of a session, and goes on in it", async () => {
    const { say, went } = speaking(new Conversations(), async () => heard("c-1"));
    await say();
    await say();
    expect(went).toEqual([undefined, "c-1"]);
  });

  it("keeps sessions, callers and documents apart, whatever their names", async () => {
    let opened = 0;
    const { say, went } = speaking(new Conversations(), async (id) => heard(id ?? `c-${++opened}`));
    const speeches = [{}, { sessionId: "t" }, { owner: "p" }, { hash: "h" }, { owner: "os", sessionId: "" }];
    for (const speech of [...speeches, ...speeches]) await say(speech);
    expect(went).toEqual([undefined, undefined, undefined, undefined, undefined, "c-1", "c-2", "c-3", "c-4", "c-5"]);
  });

  it("lets a second message wait until the first has opened the conversation", async () => {
    let open: (value: Heard) => void = () => undefined;
    const { say, went } = speaking(new Conversations(), (id) =>
      id === undefined ? new Promise((resolve) => (open = resolve)) : Promise.resolve(heard(undefined)),
    );
    const both = [say(), say()];
    await Promise.resolve();
    expect(went).toEqual([undefined]);
    open(heard("c-1"));
    await Promise.all(both);
    expect(went).toEqual([undefined, "c-1"]);
  });

  it("lets the second open one of its own where the first failed, and stop waiting when it gives up", async () => {
    let fail: (thrown: unknown) => void = () => undefined;
    let first = true;
    const { say, went } = speaking(new Conversations(), () => {
      if (!first) return Promise.resolve(heard("c-2"));
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

  it("forgets one that the peer does not know any more, so that the caller decides to begin again", async () => {
    const gone = heard(undefined, new AgentError("session_expired", "Conversation not found."));
    const { say, went } = speaking(new Conversations(), async (id) => (id === undefined ? heard("c-1") : gone));
    await say();
    expect((await say()).error?.code).toBe("session_expired");
    await say();
    expect(went).toEqual([undefined, "c-1", undefined]);
  });

  it("forgets one in which the peer broke, and keeps it where only the connection did", async () => {
    let problem = new AgentError("unavailable", "reset", { sent: "maybe" });
    const { say, went } = speaking(new Conversations(), async (id) => {
      if (id === undefined) return heard("c-1");
      throw problem;
    });
    await say();
    await say().catch(() => undefined);
    problem = new AgentError("bad_peer", "a page", { status: 500 });
    await say().catch(() => undefined);
    await say();
    expect(went).toEqual([undefined, "c-1", "c-1", undefined]);
  });

  it("keeps one that an error leaves alive", async () => {
    const { say, went } = speaking(new Conversations(), async () => heard("c-1", new AgentError("internal", "no")));
    await say();
    await say();
    expect(went).toEqual([undefined, "c-1"]);
  });

  it("opens one each time with a peer that has none", async () => {
    const { say, went } = speaking(new Conversations(), async () => heard(undefined));
    await say();
    await say();
    expect(went).toEqual([undefined, undefined]);
  });

  it("gives all conversations of a session to whoever ends it", async () => {
    const table = new Conversations();
    let opened = 0;
    const { say } = speaking(table, async () => heard(`c-${++opened}`));
    await say();
    await say({ hash: "h" });
    await say({ sessionId: "t" });
    await expect(table.take("o", "s")).resolves.toEqual(["c-1", "c-2"]);
    await expect(table.take("o", "s")).resolves.toEqual([]);
  });

  it("remembers no more sessions than it may, and no more documents of one", async () => {
    let opened = 0;
    const table = new Conversations(4);
    const { say, went } = speaking(table, async (id) => heard(id ?? `c-${++opened}`));
    for (let index = 0; index < 10; index++) await say({ sessionId: `s-${index}` });
    await say({ sessionId: "s-0" });
    expect(went.at(-1)).toBeUndefined();
    for (let index = 0; index < 20; index++) await say({ hash: `h-${index}` });
    await expect(table.take("o", "s")).resolves.toHaveLength(16);
  });
});
