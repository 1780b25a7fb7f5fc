import { describe, expect, it } from "vitest";
import { toy } from "../../test/toy/index.js";
import { NO_FLOOR, startCall } from "../envelope/index.js";
import type { Protocol } from "../protocols/protocol.js";
import { Connection } from "./connection.js";

describe("Connection", () => {
  it("writes nothing for a call that demands more protection than the way to the peer gives", async () => {
    let written = 0;
    const protocol: Protocol = {
      ...toy,
      connect: () => async () => {
        written++;
        return { kind: "done" };
      },
    };
    // Only the address and the traits are looked at.
    const peer = { url: "http://peer.example", version: "1", binding: "b" } as Parameters<Protocol["connect"]>[1];
    const connection = new Connection({
      candidates: [{ protocol, peer }],
      linkFor: () => ({ exchange: () => Promise.reject(new Error("not asked")), close: async () => undefined }),
      ids: { now: () => 0, newId: () => "id" },
      random: () => 0,
      wrap: (handler) => handler,
      onVersionError: () => undefined,
    });
    const guarded = startCall({ floor: { ...NO_FLOOR, encrypted: true } });
    await expect(connection.handle({ kind: "ping" }, guarded)).rejects.toMatchObject({ code: "downgrade_refused" });
    expect(written).toBe(0);
    await expect(connection.handle({ kind: "ping" }, startCall())).resolves.toEqual({ kind: "done" });
  });
});
