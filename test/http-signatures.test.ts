import { afterEach, describe, expect, test } from "vitest";
import { agent, connect, type Server, serve } from "../src/index.js";
import { textOfAnswer } from "../src/internal.js";
import { createReplayGuard, httpSignatures, newCardKey, requestSignatures } from "../src/public/auth.js";
import { DEFAULT_LIMITS } from "../src/transport/limits.js";
import { poolLink } from "../src/transport/node/index.js";
import { makeRequest } from "../src/transport/request.js";
import { signRequest } from "../src/transport/sign.js";

/** Requests signed by a key, on real sockets, in every protocol that a client chooses. */

const ANN = newCardKey("EdDSA");
const servers: Server[] = [];
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(now: () => number = Date.now): Promise<Server> {
  const clerk = agent({ name: "clerk", description: "Files documents", handle: (_message, task) => `filed for ${task.caller}` });
  const admission = httpSignatures({ keys: new Map([["ann-1", { key: ANN.publicJwk, caller: "ann" }]]) });
  const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now, knownSinceMs: 0 });
  const server = await serve(clerk, { port: 0, admission, replay });
  servers.push(server);
  return server;
}

const signer = () => requestSignatures({ keyId: "ann-1", key: ANN.privateJwk });

describe("requests signed by a configured key", () => {
  test("are admitted as the caller of the key", async () => {
    const server = await start();
    const peer = await connect(server.url, { credentials: { signer: signer() } });
    closers.push(() => peer.close());
    const answers = await Promise.all([peer.send("one"), peer.send("two")]);
    expect(answers.map(textOfAnswer)).toEqual(["filed for ann", "filed for ann"]);
  });

  test("are required by the card: a client without a signer is told before it sends", async () => {
    const server = await start();
    const peer = await connect(server.url);
    closers.push(() => peer.close());
    await expect(peer.send("one")).rejects.toThrow("credentials.signer");
  });

  test("are refused when they are sent again, or to another path, with the form that is accepted", async () => {
    const server = await start();
    const link = poolLink();
    closers.push(() => link.close());
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "none" } });
    const headers = { "content-type": "application/json", "a2a-version": "1.0" };
    const card = (await connect(server.url, { credentials: { signer: signer() } })).card;
    const url = card.interfaces.find(({ binding }) => binding === "JSONRPC")?.url ?? "";
    const request = await signRequest(makeRequest({ method: "POST", url, headers, body, signer: signer() }));
    const send = async (at: string) => {
      const { status, headers: answered } = await link.exchange(
        makeRequest({ method: "POST", url: at, headers: request.headers, body }),
      );
      return { status, accepts: answered["accept-signature"] !== undefined };
    };
    expect(await send(url)).toEqual({ status: 200, accepts: false });
    expect(await send(url)).toEqual({ status: 401, accepts: true });
    expect(await send(`${url}?x=1`)).toEqual({ status: 401, accepts: true });
  });
});
