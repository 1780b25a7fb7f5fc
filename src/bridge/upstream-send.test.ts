import { describe, expect, it } from "vitest";
import { type Context, type Envelope, newEnvelope, RecentMap } from "../envelope/index.js";
import { InboundMessage, type TaskContext } from "../tasks/index.js";
import type { AdoptContext } from "./adopt-context.js";
import { upstreamSend } from "./upstream-send.js";

const ids = { now: () => 1, newId: () => "new" };

/** A gateway in front of an upstream without special features, and how often it asked for a pseudonym. */
function gateway() {
  const asked: string[] = [];
  const context = {
    upstream: { card: () => ({ capabilities: {} }), traits: () => ({ streaming: false, tasks: true, inputTurns: true }) },
    shares: { leavesWork: () => false },
    pseudonymize(owner: string, kind: string, value: string) {
      asked.push(`${kind} ${value}`);
      return `${kind} of ${owner}: ${value}`;
    },
    callerNames: new RecentMap(10),
    ids,
  } as unknown as AdoptContext; // what the function uses of it
  const sent = (owner: string, envelope: Envelope) => {
    const task = { owner, sessionId: "s", outputModes: [], delivery: "answer", turn: 1 } as unknown as TaskContext; // of a first turn
    return upstreamSend(context, new InboundMessage(envelope), task, { state: undefined, reportMember: () => undefined })
      .envelope;
  };
  return { asked, sent };
}

const from = (src: string, context: Context = {}): Envelope => newEnvelope({ content: "hi", src, dst: "agent", context }, ids);

describe("upstreamSend", () => {
  it("names every caller by a pseudonym of its own, and asks for it once as long as the caller keeps its name", () => {
    const { asked, sent } = gateway();
    const names = (
      [
        ["ann", "x"],
        ["ann", "x"],
        ["bob", "x"],
        ["ann", "y"],
        ["ann", "x"],
        ["ann", ""],
      ] as const
    ).map(([owner, src]) => sent(owner, from(src)).src);
    expect(names).toEqual(["src of ann: x", "src of ann: x", "src of bob: x", "src of ann: y", "src of ann: x", ""]);
    expect(asked.filter((each) => each.startsWith("src"))).toEqual(["src x", "src x", "src y", "src x"]);
  });

  it("passes the context on, with names of its own for what belongs to the gateway's callers", () => {
    const context: Required<Context> = {
      traceId: "t",
      parentId: "p",
      idempotencyKey: "k",
      sessionId: "s",
      taskId: "gateway's own",
      priority: 1,
      ttlMs: 2,
      stream: true,
      artifactRefs: ["a"],
      tags: ["b"],
      minVersion: "1",
      maxVersion: "2",
    };
    expect(gateway().sent("ann", from("x", context)).context).toEqual({
      ...context,
      idempotencyKey: "key of ann: k",
      sessionId: "session of ann: s",
      taskId: undefined,
    });
  });
});
