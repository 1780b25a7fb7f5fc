import { describe, expect, test } from "vitest";
import { readStatus, writeStatus } from "./status.js";

const info = (length: number) => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason: "R",
  domain: "d",
  metadata: { long: "x".repeat(length) },
});

/** RFC 9113 §6.5.2: the size of a field list. */
const sizeOf = (fields: { readonly [name: string]: string }): number =>
  Object.entries(fields).reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);

describe("the status of a call", () => {
  test("is percent-encoded as in the gRPC protocol", () => {
    const { "grpc-status": status, "grpc-message": message } = writeStatus("NOT_FOUND", "100 % für\nnichts ~", []);
    expect([status, message]).toEqual(["5", "100 %25 f%C3%BCr%0Anichts ~"]);
  });

  test.each(["x", "%", "ü", "語", "😀", "\ud800"])("never exceeds the 8 KiB of common clients (%j)", (letter) => {
    for (const length of [0, 100, 4_000, 6_000, 20_000]) {
      const trailers = writeStatus("INTERNAL", letter.repeat(5_000), [info(length)]);
      expect(sizeOf(trailers)).toBeLessThanOrEqual(8_192);
      expect(trailers["grpc-message"]?.length).toBeGreaterThan(500);
      expect(readStatus(trailers)?.message).toMatch(/^(x+|%+|ü+|語+|(😀)+\ufffd?|\ufffd+)$/u);
    }
  });

  test("details are read with and without padding, and invalid ones are ignored", () => {
    const trailers = writeStatus("NOT_FOUND", "no", [info(3)]);
    const bin = trailers["grpc-status-details-bin"] ?? "";
    expect(bin).not.toContain("=");
    const padded = bin.padEnd(Math.ceil(bin.length / 4) * 4, "=");
    for (const each of [bin, padded]) {
      const read = readStatus({ ...trailers, "grpc-status-details-bin": each });
      expect(read?.details).toMatchObject([{ reason: "R", metadata: { long: "xxx" } }]);
    }
    expect(readStatus({ ...trailers, "grpc-status-details-bin": "?" })).toMatchObject({ status: "NOT_FOUND", details: [] });
    expect(["17", "-1", "", "007", "x"].map((code) => readStatus({ "grpc-status": code })?.status)).toEqual(
      Array(5).fill("UNKNOWN"),
    );
  });
});
