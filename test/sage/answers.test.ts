import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agent, type RemoteAgent } from "../../src/index.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { wholeBody } from "../../src/transport/body.js";
import { type Chunk, type HttpResponse, isStream } from "../../src/transport/exchange.js";
import { alteringLink } from "./captured.js";
import { SageWorld, UNSEALED } from "./world.js";

/** Answers that somebody on the way changes (attack 10), and streams that are cut: the caller gets an error with a named reason. */

let world: SageWorld;
let ann: LocalIdentity;
let server: LocalIdentity;
beforeEach(async () => {
  world = new SageWorld();
  const counting = agent({
    name: "counts",
    description: "counts",
    async *handle(message) {
      if (message.text !== "count") return `got ${message.text}`;
      for (const word of ["one", "two", "three"]) yield `${word} `;
      return undefined;
    },
  });
  ({ identity: server } = await world.serve(counting));
  ann = await world.register();
});
afterEach(() => world.close());

async function altered(change: Parameters<typeof alteringLink>[0]): Promise<RemoteAgent> {
  return world.connect(server.did, ann, { link: alteringLink(change), resume: false, settings: UNSEALED });
}

const text = async ({ body }: HttpResponse): Promise<string> => Buffer.from(await wholeBody(body, 1e6)).toString();
const without = (response: HttpResponse, ...names: readonly string[]): HttpResponse => ({
  ...response,
  headers: Object.fromEntries(Object.entries(response.headers).filter(([name]) => !names.includes(name))),
});
const refused = (reason: string) => ({ name: "ErrInvalidSignature", facts: { sent: "maybe", detail: { reason } } });

describe("an answer", () => {
  test("as the agent sent it is accepted", async () => {
    expect(await (await altered((response) => response)).ask("a")).toBe("got a");
  });

  test("that is not signed is not believed, whatever it says", async () => {
    const unsigned = await altered((response) => without(response, "signature", "signature-input"));
    await expect(unsigned.ask("a")).rejects.toMatchObject(refused("sig.missing"));
    const forged = await altered(() => ({ status: 503, headers: { "content-type": "application/json" }, body: "{}" }));
    await expect(forged.ask("a")).rejects.toMatchObject(refused("sig.missing"));
  });

  test("with another text, status or type is refused", async () => {
    const body = await altered(async (response) => ({ ...response, body: (await text(response)).replace("got a", "got b") }));
    await expect(body.ask("a")).rejects.toMatchObject(refused("digest.mismatch"));
    const status = await altered((response) => ({ ...response, status: 201 }));
    await expect(status.ask("a")).rejects.toMatchObject(refused("sig.bad"));
    const type = await altered((response) => ({ ...response, headers: { ...response.headers, "content-type": "text/plain" } }));
    await expect(type.ask("a")).rejects.toMatchObject(refused("sig.bad"));
  });

  test("to another request is refused", async () => {
    let first: HttpResponse | undefined;
    const swapped = await altered(async (response) => {
      const copy = { ...response, body: await text(response) };
      first ??= copy;
      return first;
    });
    expect(await swapped.ask("a")).toBe("got a");
    await expect(swapped.ask("b")).rejects.toMatchObject(refused("sig.bad"));
  });

  test("by another agent is refused", async () => {
    const other = await world.serve();
    const named = await altered((response) => ({
      ...response,
      headers: { ...response.headers, "x-agent-did": other.identity.did },
    }));
    await expect(named.ask("a")).rejects.toMatchObject(refused("sig.binding"));
    // The registry leads to an address at which somebody else answers.
    await world.submit(server, { kind: "setEndpoint", endpoint: other.url });
    await expect(world.connect(server.did, ann)).rejects.toMatchObject({ name: "ErrInvalidSignature" });
  });
});

/** The frames of a stream, changed. */
function framed(change: (frames: string[]) => string[]): Parameters<typeof alteringLink>[0] {
  return async (response) => {
    if (!isStream(response.body)) return response;
    const frames = (await text(response)).split("\n\n").filter((each) => each.startsWith("data:"));
    return { ...response, body: chunksOf(change(frames).map((each) => `${each}\n\n`)) };
  };
}

async function* chunksOf(chunks: readonly string[]): AsyncGenerator<Chunk, void, void> {
  for (const chunk of chunks) yield chunk;
}

async function streamed(peer: RemoteAgent): Promise<string> {
  let all = "";
  for await (const event of peer.stream("count"))
    if (event.kind === "artifact") all += event.artifact.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
  return all;
}

describe("a stream", () => {
  test("as the agent sent it is read", async () => {
    expect(await streamed(await altered(framed((frames) => frames)))).toBe("one two three ");
  });

  test("without its last pieces is reported as cut", async () => {
    const cut = await altered(framed((frames) => frames.slice(0, 2)));
    await expect(streamed(cut)).rejects.toMatchObject({ code: "interrupted", facts: { detail: { reason: "stream.cut" } } });
  });

  test("with a piece that is changed, left out or repeated is refused", async () => {
    const changed = await altered(framed((frames) => frames.map((each) => each.replace("two", "six"))));
    await expect(streamed(changed)).rejects.toMatchObject({ name: "ErrInvalidSignature" });
    const less = await altered(framed(([first = "", , ...more]) => [first, ...more]));
    await expect(streamed(less)).rejects.toMatchObject({ name: "ErrReplayAttack" });
    const twice = await altered(framed(([first = "", ...more]) => [first, first, ...more]));
    await expect(streamed(twice)).rejects.toMatchObject({ name: "ErrReplayAttack" });
  });

  test("whose head is not signed is not read", async () => {
    const unsigned = await altered((response) => without(response, "signature"));
    await expect(streamed(unsigned)).rejects.toMatchObject(refused("sig.missing"));
    const plain = await altered((response) => without(response, "x-sage-stream"));
    await expect(streamed(plain)).rejects.toMatchObject({ name: "ErrInvalidSignature" });
  });
});
