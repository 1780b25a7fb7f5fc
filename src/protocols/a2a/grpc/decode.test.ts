import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyMessage } from "../../../../test/helpers/grpc.js";
import { AgentError, type Json, type JsonObject } from "../../../envelope/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { decodeMessage } from "./decode.js";
import { encodeMessage } from "./encode.js";
import type { MessageType } from "./schema.js";
import { SCHEMA_0_3 } from "./schema-0.3.js";
import { SCHEMA_1_0 } from "./schema-1.0.js";

const { Part, Task, Message, GetTaskRequest, ListTasksResponse, StreamResponse, SendMessageRequest } = SCHEMA_1_0;
const DEPTH = 64;
const LIMITS = { jsonDepth: DEPTH, jsonValues: 1_000 };
const bytes = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(" ", ""), "hex");
const encode = (type: MessageType, value: JsonObject): string =>
  Buffer.from(encodeMessage(type, value, new Uint8Array())).toString("hex");
const decode = (type: MessageType, hex: string): unknown => decodeMessage(type, bytes(hex), LIMITS);

function problemOf(run: () => unknown): string {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof DecodeProblem) return thrown.message;
    throw thrown;
  }
  return "no problem";
}

// The bytes are computed by hand from the encoding rules of protobuf.
describe("differences between JSON and protobuf presence", () => {
  test.each<[string, MessageType, JsonObject, string]>([
    ["an empty text is a text", Part, { text: "" }, "0a 00"],
    ["null is data", Part, { data: null }, "22 02 08 00"],
    ["a history of none is not any history", GetTaskRequest, { id: "t", historyLength: 0 }, "12 01 74 18 00"],
    ["an optional false", SCHEMA_1_0.AgentCapabilities, { streaming: false }, "08 00"],
    ["a negative number", GetTaskRequest, { historyLength: -1 }, "18 ff ff ff ff ff ff ff ff ff 01"],
    ["a time", SCHEMA_1_0.TaskStatus, { timestamp: "1970-01-01T00:00:01.500Z" }, "1a 08 08 01 10 80 ca b5 ee 01"],
    ["a double", Part, { data: 1 }, "22 09 11 00 00 00 00 00 00 f0 3f"],
    ["the start of the epoch", SCHEMA_1_0.TaskStatus, { timestamp: "1970-01-01T00:00:00.000Z" }, "1a 00"],
  ])("%s", (_what, type, value, hex) => {
    expect(encode(type, value)).toBe(hex.replaceAll(" ", ""));
    expect(decode(type, hex)).toEqual(value);
  });

  test("required members of a list are restored", () => {
    expect(encode(ListTasksResponse, { tasks: [], nextPageToken: "", pageSize: 0, totalSize: 0 })).toBe("");
    expect(decode(ListTasksResponse, "")).toEqual({ nextPageToken: "", pageSize: 0, totalSize: 0 });
  });

  test("a plain member at its default is not written", () => {
    expect(encode(Message, { messageId: "", role: "ROLE_UNSPECIFIED", parts: [] })).toBe("");
  });
});

describe("a reader of protobuf", () => {
  test("skips unknown fields, of every wire type", () => {
    expect(
      decode(GetTaskRequest, "f8 07 01 f9 07 0102030405060708 fa 07 02 6161 fb 07 08 01 fc 07 fd 07 01020304 12 01 74"),
    ).toEqual({ id: "t" });
  });

  test("uses the last of a oneof, the last of a scalar, and merges messages", () => {
    expect(decode(Part, "0a 01 61 1a 01 62")).toEqual({ url: "b" });
    expect(decode(GetTaskRequest, "12 01 61 12 01 62")).toEqual({ id: "b" });
    // Two statuses of one task: the state of the first and the message of the second.
    expect(decode(Task, "1a 02 08 02 1a 05 12 03 0a 01 6d")).toEqual({
      status: { state: "TASK_STATE_WORKING", message: { messageId: "m" } },
    });
  });

  test("keeps the number of an unknown state", () => {
    expect(decode(SCHEMA_1_0.TaskStatus, "08 63")).toEqual({ state: 99 });
  });

  test("accepts any member name", () => {
    const metadata = decode(Task, encode(Task, { metadata: JSON.parse('{"__proto__":{"polluted":true}}') }));
    expect(JSON.stringify(metadata)).toBe('{"metadata":{"__proto__":{"polluted":true}}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("invalid messages", () => {
  test.each([
    ["a length behind the end", "12 05 61", "Task"],
    ["a giant length", "12 ff ff ff ff 0f 61", "Task"],
    ["half a varint", "12", "Task"],
    ["an endless varint", "12 ff ff ff ff ff ff ff ff ff ff ff", "Task"],
    ["field zero", "00 01", "field 0"],
    ["a group that does not end", "fb 07 08 01", "Task"],
    ["a group that ends without beginning", "fc 07", "Task"],
    ["half a double", "32 0d 0a 0b 0a 01 61 12 06 11 0000000000", "Struct"],
    ["a value that ends behind its message", "1a 02 12 05 0a 03 616161", "TaskStatus"],
  ])("%s", (_what, hex) => {
    expect(problemOf(() => decode(Task, hex))).toMatch(/ is not well-formed protobuf$/);
  });

  test("text that is not UTF-8", () => {
    expect(problemOf(() => decode(GetTaskRequest, "12 01 ff"))).toBe("GetTaskRequest.id must be UTF-8");
    expect(problemOf(() => decode(GetTaskRequest, `12 28 ${"61".repeat(39)} ff`))).toBe("GetTaskRequest.id must be UTF-8");
  });

  test("numbers that JSON lacks", () => {
    expect(problemOf(() => decode(Part, "22 09 11 00 00 00 00 00 00 f8 7f"))).toBe("Value must be a finite number");
  });

  test("times outside of the calendar", () => {
    expect(problemOf(() => decode(SCHEMA_1_0.TaskStatus, "1a 0a 08 ff ff ff ff ff ff ff ff 7f"))).toBe(
      "TaskStatus.timestamp must be a time between the years 1 and 9999",
    );
  });

  test("unlimited nesting", () => {
    const nested = (levels: number, wrap: (inner: Json) => Json): Uint8Array => {
      let data: Json = 1;
      for (let level = 0; level < levels; level++) data = wrap(data);
      return encodeMessage(Part, { data }, new Uint8Array());
    };
    for (const wrap of [(inner: Json) => [inner], (inner: Json) => ({ inner })]) {
      expect(problemOf(() => decodeMessage(Part, nested(DEPTH - 1, wrap), LIMITS))).toBe("no problem");
      expect(problemOf(() => decodeMessage(Part, nested(DEPTH, wrap), LIMITS))).toBe(
        `Value is nested deeper than ${DEPTH} levels`,
      );
    }
    let deeper: Json = 1;
    for (let level = 0; level < 100_000; level++) deeper = [deeper];
    expect(() => encodeMessage(Part, { data: deeper }, new Uint8Array())).toThrow("nested deeper than 200 levels");
    expect(encode(Part, { text: "" })).toBe("0a00");
  });

  const repeated = (hex: string, times: number): Uint8Array => bytes(hex.repeat(times));
  test.each([
    ["items of a list", Task, repeated("2200", 2_001)],
    ["a field that is set again and again", GetTaskRequest, repeated("0a00", 2_001)],
    ["fields that are not known", Task, repeated("f80700", 2_001)],
    ["fields in a group that is not known", Task, bytes(`fb07${"0801".repeat(2_000)}fc07`)],
    [
      "members of a struct",
      Message,
      encodeMessage(Message, { metadata: Object.fromEntries(Array(600).fill(1).entries()) }, new Uint8Array()),
    ],
  ])("more fields than jsonValues allows: %s", (_, type, message) => {
    expect(problemOf(() => decodeMessage(type, message, LIMITS))).toBe(
      "the message has more than 2000 fields; send large data as a file",
    );
  });

  test("a group that is not known is skipped with its inner groups", () => {
    expect(decode(GetTaskRequest, "fb07 0801 f307 0801 f407 fc07 0a0178")).toMatchObject({ tenant: "x" });
  });

  test("random bytes, and valid ones with one error", () => {
    const types = [...Object.values(SCHEMA_1_0), ...Object.values(SCHEMA_0_3)];
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.uint8Array({ maxLength: 200 }), (type, noise) => {
        problemOf(() => decodeMessage(type, noise, LIMITS));
      }),
      { numRuns: 3_000 },
    );
    const spoilt = fc.tuple(anyMessage(StreamResponse), fc.nat(), fc.integer({ min: 0, max: 255 }), fc.boolean());
    fc.assert(
      fc.property(spoilt, ([value, at, byte, cut]) => {
        const good = encodeMessage(StreamResponse, value, new Uint8Array());
        good[at % Math.max(1, good.length)] = byte;
        problemOf(() => decodeMessage(StreamResponse, cut ? good.subarray(0, at % (good.length + 1)) : good, LIMITS));
      }),
      { numRuns: 1_000 },
    );
  });
});

test("a value that does not fit the message is an encoding error, and does not affect the next message", () => {
  const wrong = { message: { messageId: 7 } };
  expect(() => encodeMessage(SendMessageRequest, wrong, new Uint8Array())).toThrow(AgentError);
  expect(() => encodeMessage(SendMessageRequest, wrong, new Uint8Array())).toThrow(
    "Message.messageId does not match its protobuf field",
  );
  expect(() => encodeMessage(GetTaskRequest, { historyLength: 2 ** 40 }, new Uint8Array())).toThrow(
    "the GetTaskRequest cannot be written",
  );
  expect(encode(GetTaskRequest, { id: "t" })).toBe("120174");
});
