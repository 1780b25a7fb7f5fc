import { BinaryWriter } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ReverseWriter } from "./reverse-writer.js";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

// protobuf-es writes the same values forwards.
describe("a value is written as protobuf-es writes it", () => {
  test.each([0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1fffff, 0x200000, 0xfffffff, 0x10000000, 0x7fffffff, 0xffffffff])(
    "uint32 %d",
    (value) => {
      const writer = new ReverseWriter();
      writer.uint32(value);
      expect(hex(writer.take())).toBe(hex(new BinaryWriter().uint32(value).finish()));
    },
  );

  test.each([0, 1, -1, -128, 0x7fffffff, -0x80000000])("int32 %d", (value) => {
    const writer = new ReverseWriter();
    writer.int32(value);
    expect(hex(writer.take())).toBe(hex(new BinaryWriter().int32(value).finish()));
  });

  test.each([0, 1, -1, 2 ** 32, -(2 ** 40), Number.MAX_SAFE_INTEGER])("int64 %d", (value) => {
    const writer = new ReverseWriter();
    writer.int64(value);
    expect(hex(writer.take())).toBe(hex(new BinaryWriter().int64(value).finish()));
  });

  test.each(["", "a", "é", "日本", "\ud800", "😀", "a".repeat(127), "é".repeat(64), "a".repeat(200_000)])(
    "string %#",
    (value) => {
      const writer = new ReverseWriter();
      writer.string(value);
      expect(hex(writer.take())).toBe(hex(new BinaryWriter().string(value).finish()));
    },
  );

  test.each([0.5, -1e300])("double %d", (value) => {
    const writer = new ReverseWriter();
    writer.double(value);
    expect(hex(writer.take())).toBe(hex(new BinaryWriter().double(value).finish()));
  });
});

test("nested messages of any size, one after the other in one writer", () => {
  const writer = new ReverseWriter();
  fc.assert(
    fc.property(fc.string({ maxLength: 300, unit: "binary" }), fc.integer({ min: 1, max: 400 }), (text, times) => {
      const forwards = new BinaryWriter().uint32(10).fork();
      for (let index = 0; index < times; index++) forwards.uint32(18).string(text);
      const from = writer.size;
      for (let index = 0; index < times; index++) {
        writer.string(text);
        writer.uint32(18);
      }
      writer.lengthSince(from);
      writer.uint32(10);
      expect(hex(writer.take())).toBe(hex(forwards.join().finish()));
    }),
  );
});

test.each([1.5, 2 ** 31, Number.NaN])("%d is no int32", (value) => {
  expect(() => new ReverseWriter().int32(value)).toThrow(RangeError);
});
