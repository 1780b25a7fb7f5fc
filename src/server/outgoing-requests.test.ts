import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeRequest } from "../transport/request.js";
import { outgoingRequests } from "./outgoing-requests.js";

/** Requests that a server sends on its own, to addresses that others chose. */

const LIMITS = { outgoingRequests: 4, outgoingRequestsPerSender: 2, outgoingMs: 60_000, inboxMessages: 3 };
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url ?? "");
  if (request.url !== "/hang") response.end("{}");
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://peer.example:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const resolve = async (): Promise<readonly string[]> => ["127.0.0.1"];
const to = (path: string, from: "public" | "loopback", limits = LIMITS, floor = {}) => {
  const { run } = outgoingRequests({ reach: () => "loopback", limits, resolve });
  return run({ owner: "did:ann", from, floor }, async (link, call) =>
    link.exchange(makeRequest({ method: "POST", url: url + path, body: "{}", call })),
  );
};

describe("a request of a server", () => {
  test("is sent where a document of this machine says, and not inside the network of a server for a public document", async () => {
    expect((await to("/here", "loopback")).status).toBe(200);
    await expect(to("/inside", "public")).rejects.toMatchObject({ code: "forbidden", facts: { sent: "no" } });
    const { run } = outgoingRequests({ reach: () => "public", limits: LIMITS, resolve });
    const trusted = run({ owner: "did:ann", from: "loopback" }, async (link, call) =>
      link.exchange(makeRequest({ method: "POST", url, body: "{}", call })),
    );
    await expect(trusted).rejects.toMatchObject({ code: "forbidden" });
    expect(asked).toEqual(["/here"]);
  });

  test("keeps the floor of the message that it answers", async () => {
    const { run } = outgoingRequests({ reach: () => "loopback", limits: LIMITS, resolve: async () => ["8.8.8.8"] });
    const sent = run({ owner: "did:ann", from: "public", floor: { encrypted: true } }, async (link, call) =>
      link.exchange(makeRequest({ method: "POST", url, body: "{}", call })),
    );
    await expect(sent).rejects.toMatchObject({ code: "downgrade_refused" });
  });

  test("ends with its time", async () => {
    await expect(to("/hang", "loopback", { ...LIMITS, outgoingMs: 50 })).rejects.toMatchObject({ code: "unavailable" });
  });

  test("waits while the sender has its share, others do not, and what waits is limited", async () => {
    const { run } = outgoingRequests({ reach: () => "loopback", limits: LIMITS, resolve });
    const running: string[] = [];
    const ends: (() => void)[] = [];
    const start = (owner: string) =>
      run({ owner, from: "loopback" }, () => {
        running.push(owner);
        return new Promise<void>((end) => ends.push(end));
      });
    const all = ["ann", "ann", "ann", "ann", "bob", "ann"].map(start);
    await expect.poll(() => running).toEqual(["ann", "ann", "bob"]);
    await expect(start("ann")).rejects.toMatchObject({ code: "overloaded" });
    ends[0]?.();
    await expect.poll(() => running).toEqual(["ann", "ann", "bob", "ann"]);
    for (let index = 1; index < all.length; index++) {
      await expect.poll(() => ends.length).toBeGreaterThan(index);
      ends[index]?.();
    }
    await Promise.all(all);
    expect(running.filter((owner) => owner === "ann")).toHaveLength(5);
  });
});
