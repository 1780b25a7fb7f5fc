import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { freePort } from "./ports.js";

describe("freePort", () => {
  it("returns the wanted port, or the next one that is neither in use nor given out", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const address = server.address();
      const taken = typeof address === "object" && address !== null ? address.port : 0;
      const given = new Set<number>();
      const first = await freePort(taken, given);
      const second = await freePort(taken, given);
      expect(first).not.toBe(taken);
      expect(second).not.toBe(taken);
      expect(second).not.toBe(first);
      expect([...given]).toEqual([first, second]);
    } finally {
      server.close();
    }
  });

  it("returns any free port for 0", async () => {
    expect(await freePort(0, new Set())).toBeGreaterThan(1023);
  });
});
