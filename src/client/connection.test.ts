import { describe, expect, it } from "vitest";
import { toy } from "../../test/toy/index.js";
import { AgentError, isPromise, NO_FLOOR, type Reply, startCall } from "../envelope/index.js";
import { createClientContext } from "../protocols/client-context.js";
import type { Peer, Protocol } from "../protocols/protocol.js";
import { Connection } from "./connection.js";
import { FloorRules } from "./floor-rules.js";

const context = createClientContext({
  link: { exchange: () => Promise.reject(new Error("not asked")), close: async () => undefined },
  ids: { now: () => 0, newId: () => "id" },
});

describe("Connection", () => {
  it("sends nothing for a call that requires more protection than the interface provides", async () => {
    let written = 0;
    const protocol: Protocol = {
      ...toy,
      connect: () => ({
        handler: async () => {
          written++;
          return { kind: "done" };
        },
        protection: () => NO_FLOOR,
        close: async () => undefined,
      }),
    };
    // Only the address and the traits are looked at.
    const peer = { url: "http://peer.example", version: "1", binding: "b" } as Peer;
    const connection = new Connection({
      candidates: [{ protocol, peer }],
      contextFor: ({ peer }) => ({ ...context, peer }),
      random: () => 0,
      wrap: (handler) => handler,
      onVersionError: () => undefined,
      floor: new FloorRules("http://peer.example", {}, { now: () => 0 }),
      dialled: (url) => url,
    });
    const guarded = startCall({ floor: { ...NO_FLOOR, encrypted: true } });
    await expect(connection.handle({ kind: "ping" }, guarded)).rejects.toMatchObject({ code: "downgrade_refused" });
    expect(written).toBe(0);
    await expect(connection.handle({ kind: "ping" }, startCall())).resolves.toEqual({ kind: "done" });
  });

  it("prefers the first interface that provides what every call must have", () => {
    const named = (id: string, endToEnd: boolean) => ({
      protocol: {
        ...{ ...toy, id },
        connect: () => ({
          handler: async () => ({ kind: "done" }) as const,
          protection: () => ({ ...NO_FLOOR, endToEnd }),
          close: async () => undefined,
        }),
      } as Protocol,
      peer: { url: "http://peer.example", version: "1", binding: "b" } as Peer,
    });
    const candidates = [named("plain", false), named("sealed", true), named("other", true)];
    const orderFor = (floor: FloorRules) =>
      new Connection({
        ...{ candidates, floor, random: () => 0, onVersionError: () => undefined },
        contextFor: ({ peer }) => ({ ...context, peer }),
        wrap: (handler) => handler,
        dialled: (url) => url,
      }).candidates.map(({ protocol }) => protocol.id);
    const clock = { now: () => 0 };
    expect(orderFor(new FloorRules("http://peer.example", {}, clock))).toEqual(["plain", "sealed", "other"]);
    const required = new FloorRules("http://peer.example", { require: ["end-to-end"] }, clock);
    expect(orderFor(required)).toEqual(["sealed", "other", "plain"]);
  });

  it("accepts one event as a stream where the next interface has no streams, without a needless send", async () => {
    const unavailable = new AgentError("unavailable", "nobody there", { sent: "no" });
    const answers: readonly (() => Reply)[] = [
      () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(unavailable) }) }),
      () => Promise.resolve({ kind: "done" }),
    ];
    const candidates = answers.map((answer, index) => ({
      protocol: {
        ...toy,
        connect: () => ({ handler: answer, protection: () => NO_FLOOR, close: async () => undefined }),
      } as Protocol,
      peer: { url: `http://peer-${index}.example`, version: "1", binding: "b" } as Peer,
    }));
    const connection = new Connection({
      candidates,
      contextFor: ({ peer }) => ({ ...context, peer }),
      random: () => 0,
      wrap: (handler) => handler,
      onVersionError: () => undefined,
      floor: new FloorRules("http://peer.example", {}, { now: () => 0 }),
      dialled: (url) => url,
    });
    const reply = connection.handle({ kind: "task.subscribe", taskId: "t", follow: true }, startCall());
    const events: string[] = [];
    if (isPromise(reply)) throw new Error("a stream was asked for");
    for await (const { kind } of reply) events.push(kind);
    expect(events).toEqual(["done"]);
  });
});
