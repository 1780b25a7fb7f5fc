import { describe, expect, test } from "vitest";
import { createIdentity, keyObjectOf } from "../../../security/identity/index.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { signedFrames, verifiedFrames } from "./stream-frames.js";

const identity = createIdentity({ name: "agent", did: "did:example:a", kinds: ["Ed25519"] });
const [key] = identity.keys();
if (key === undefined) throw new Error("no key");
const verification = { algorithm: "ed25519", key: keyObjectOf(key) } as const;
const sign = (bytes: Uint8Array) => identity.sign(key.id, bytes);

async function* from<T>(pieces: readonly T[]): AsyncGenerator<T, void, void> {
  for (const piece of pieces) yield piece;
}

async function all<T>(pieces: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const piece of pieces) found.push(piece);
  return found;
}

const framed = (pieces: readonly (string | Uint8Array)[], id = "s-1") => all(signedFrames(from(pieces), id, sign));
const read = (frames: readonly string[], id = "s-1") => all(verifiedFrames(from(frames), id, verification, DEFAULT_LIMITS));
const PIECES = ["data: 1\n\n", 'data: "zwei €"\n\n', ":\n\n"];

describe("the frames of a stream", () => {
  test("come out as they went in, also where a character is cut in two", async () => {
    expect(await read(await framed(PIECES))).toEqual(PIECES);
    const euro = Buffer.from("€uro");
    expect((await read(await framed([euro.subarray(0, 1), euro.subarray(1)]))).join("")).toBe("€uro");
    expect(await read(await framed([]))).toEqual([]);
  });

  test("that are of another stream, changed, moved, repeated or left out are refused", async () => {
    const frames = await framed(PIECES);
    const [first = "", second = "", third = "", last = ""] = frames;
    const bad = { name: "ErrInvalidSignature", facts: { detail: { reason: "sig.bad" } } };
    const order = { name: "ErrReplayAttack", facts: { detail: { reason: "stream.order" } } };
    await expect(read(frames, "s-2")).rejects.toMatchObject(bad);
    await expect(read([first.replace("data: 1", "data: 2"), second, third, last])).rejects.toMatchObject(bad);
    await expect(read([first.replace('"last":false', '"last":true')])).rejects.toMatchObject(bad);
    await expect(read([second, first, third, last])).rejects.toMatchObject(order);
    await expect(read([first, first])).rejects.toMatchObject(order);
    await expect(read([first, third, last])).rejects.toMatchObject(order);
    await expect(read([first.replace('"seq":0', '"seq":1')])).rejects.toMatchObject(order);
    await expect(read([second.replace('"seq":1', '"seq":0')])).rejects.toMatchObject(bad);
  });

  test("without the last one are reported as cut", async () => {
    const frames = (await framed(PIECES)).slice(0, -1);
    await expect(read(frames)).rejects.toMatchObject({ code: "interrupted", facts: { detail: { reason: "stream.cut" } } });
    await expect(read([])).rejects.toMatchObject({ code: "interrupted" });
  });

  test("of a body that fails have no last one", async () => {
    async function* failing(): AsyncGenerator<string, void, void> {
      yield "data: 1\n\n";
      throw new Error("the agent failed");
    }
    const frames: string[] = [];
    const reading = (async () => {
      for await (const frame of signedFrames(failing(), "s-1", sign)) frames.push(frame);
    })();
    await expect(reading).rejects.toThrow("the agent failed");
    await expect(read(frames)).rejects.toMatchObject({ code: "interrupted" });
  });

  test.each(["data: 1\n\n", 'data: {"seq":0}\n\n', "data: {}\n\n", "data: [1]\n\n"])(
    "that are none are refused: %j",
    async (frame) => {
      await expect(read([frame])).rejects.toMatchObject({ facts: { detail: { reason: "message.malformed" } } });
    },
  );
});
