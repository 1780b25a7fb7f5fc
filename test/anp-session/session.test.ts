import { afterEach, describe, expect, test } from "vitest";
import { called, closeAll, directory, served } from "./peers.js";

afterEach(closeAll);

describe("a sealed session of ANP", () => {
  test("answers the DID that was proved", async () => {
    const peer = await called(await served(), directory.create("ann"));
    expect(await peer.ask("who")).toBe("did:did:memo:ann");
    expect(await peer.ask("hello")).toBe("you said: hello");
  });
});
