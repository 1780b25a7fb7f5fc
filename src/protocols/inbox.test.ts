import { describe, expect, test } from "vitest";
import { type Envelope, startCall } from "../envelope/index.js";
import { MessageInbox } from "./inbox.js";
import { Replies } from "./replies.js";

const message = (id: string): Envelope => ({
  id,
  ts: 0,
  src: "",
  dst: "",
  intent: "",
  role: "agent",
  content: [],
  context: {},
  meta: {},
});
const peer = (id: string) => ({ id, scheme: "did", scopes: [], owner: `did:${id}` }) as const;

describe("an answer that arrives at a server", () => {
  test("settles the call that waits for it at a connection of the process, if it is of the peer that was called", async () => {
    const replies = new Replies();
    const agent: string[] = [];
    const server = new MessageInbox({ limit: 4, replies, onMessage: ({ id }) => agent.push(id) > 0 });
    const client = new MessageInbox({ limit: 4 });
    const leave = replies.join(client);
    const answer = client.expect("q-1", startCall(), "did:bob");
    expect(server.deliver(message("forged"), peer("did:eve"), "q-1")).toBe(true);
    expect(server.deliver(message("a-1"), peer("did:bob"), "q-1")).toBe(true);
    expect((await answer).id).toBe("a-1");
    leave();
    server.deliver(message("late"), peer("did:bob"), "q-1");
    expect(agent).toEqual(["forged", "late"]);
  });

  test("waits for receive() where nobody waited for it, and is refused where there is no room", async () => {
    const replies = new Replies();
    const server = new MessageInbox({ limit: 4, replies, onMessage: () => false });
    const client = new MessageInbox({ limit: 1 });
    replies.join(client);
    client.listen("q-1", "did:bob");
    expect(server.deliver(message("a-1"), peer("did:bob"), "q-1")).toBe(true);
    client.listen("q-2", "did:bob");
    expect(server.deliver(message("a-2"), peer("did:bob"), "q-2")).toBe(false);
    const reader = client.receive(startCall());
    expect((await reader.next()).value?.id).toBe("a-1");
    expect(server.deliver(message("a-2"), peer("did:bob"), "q-2")).toBe(true);
  });
});
