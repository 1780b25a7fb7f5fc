import { describe, expect, it } from "vitest";
import { SealedCapture } from "./sealed-capture.js";

const captured = (limit: number, ...frames: readonly (string | Uint8Array)[]) => {
  const capture = new SealedCapture("WS /toy", limit, "did:example:ann");
  for (const frame of frames) capture.add(frame);
  return capture;
};

describe("captured messages that are sealed", () => {
  it("are kept as they crossed the wire, with who sealed them", () => {
    expect(captured(10, Uint8Array.of(1, 2, 3), Uint8Array.of(255)).wire()).toEqual({
      head: "WS /toy",
      headers: {},
      body: "AQID/w==",
      encoding: "base64",
      bytes: 4,
      cut: false,
      sealed: true,
      signer: "did:example:ann",
    });
  });

  it("are kept up to the limit, and counted beyond it", () => {
    const capture = captured(3, Uint8Array.of(1, 2), Uint8Array.of(3, 4), Uint8Array.of(5));
    expect(capture.wire()).toMatchObject({ body: "AQID", bytes: 5, cut: true });
    expect(capture.size).toBe(3 + "did:example:ann".length);
  });

  it("keep no reference to the memory that they arrived in", () => {
    const arrived = Buffer.from([1, 2, 3]);
    const capture = captured(10, arrived);
    arrived.fill(0);
    expect(capture.wire().body).toBe("AQID");
  });

  it("have no text, which would not be sealed", () => {
    expect(captured(10, "in clear").wire()).toMatchObject({ body: "", bytes: 8, cut: true });
  });

  it("can be dropped for memory, and then keep nothing more; not for secrets, which nobody can read in them", () => {
    const capture = captured(10, Uint8Array.of(1));
    capture.dropBinary();
    expect([capture.isBinary, capture.wire().body]).toEqual([false, "AQ=="]);
    capture.drop();
    capture.add(Uint8Array.of(2));
    expect(capture.wire()).toMatchObject({ body: "", bytes: 2, cut: true });
    expect(capture.size).toBe("did:example:ann".length);
  });
});
