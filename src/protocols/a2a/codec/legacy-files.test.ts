import { describe, expect, test } from "vitest";
import type { Loss, Operation, Part } from "../../../envelope/index.js";
import { v03ProtoFor } from "./codec-0.3-proto.js";
import { filesOf, type LegacyFiles } from "./legacy-files.js";

const facts = { now: 0, src: "a", dst: "b", partsPerMessage: 10 };
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 1, 2, 3]);
/** As a2a-sdk 0.3 (Python) writes a file into the protobuf: `file_with_bytes=file.bytes.encode("utf-8")`, the base64 text. */
const FROM_PYTHON = Buffer.from(Buffer.from(PNG).toString("base64")).toString("base64");
/** As @a2a-js/sdk 0.3.14 writes it: `Buffer.from(part.file.bytes, "base64")`, the bytes. */
const FROM_JAVASCRIPT = Buffer.from(PNG).toString("base64");

function read(fileWithBytes: string, mimeType: string, files: LegacyFiles): { bytes: unknown; losses: readonly Loss[] } {
  const losses: Loss[] = [];
  const message = { messageId: "m", role: "ROLE_USER", content: [{ file: { fileWithBytes, mimeType } }] };
  const dialect = v03ProtoFor(files);
  const operation = dialect.decodeRequest("SendMessage", { message }, { ...facts, reportLoss: (loss) => losses.push(loss) });
  const [part] = operation.kind === "send" ? operation.envelope.content : [];
  return { bytes: part?.kind === "raw" ? part.bytes : part, losses };
}

describe("a file of 0.3 over REST and gRPC", () => {
  test.each([
    ["Python", FROM_PYTHON, "base64", 0],
    ["Python, not recognized", FROM_PYTHON, "auto", 1],
    ["JavaScript", FROM_JAVASCRIPT, "raw", 0],
    ["JavaScript, not recognized", FROM_JAVASCRIPT, "auto", 0],
    ["JavaScript, taken for Python", FROM_JAVASCRIPT, "base64", 0],
  ] as const)("from %s is read", (_, wire, files, losses) => {
    const seen = read(wire, "image/png", files);
    expect(seen.bytes).toEqual(PNG);
    expect(seen.losses).toHaveLength(losses);
  });

  test("a text of base64 letters stays what it is, from a peer that writes bytes or is not known", () => {
    const text = Buffer.from("c29tZSBsZXR0ZXJzIGFuZCBtb3Jl");
    expect(read(text.toString("base64"), "text/plain", "raw")).toEqual({ bytes: new Uint8Array(text), losses: [] });
    const unknown = read(text.toString("base64"), "text/plain", "auto");
    expect(unknown.bytes).toEqual(new Uint8Array(text));
    expect(unknown.losses).toMatchObject([{ path: "message.content[0]", valueKind: "bytes" }]);
    expect(Buffer.from(read(text.toString("base64"), "text/plain", "base64").bytes as Uint8Array).toString()).toBe(
      "some letters and more",
    );
  });

  test("a short text is not taken for base64", () => {
    const text = Buffer.from("test");
    expect(read(text.toString("base64"), "application/x-word", "auto")).toEqual({ bytes: new Uint8Array(text), losses: [] });
  });

  test.each([
    ["raw", FROM_JAVASCRIPT],
    ["auto", FROM_JAVASCRIPT],
    ["base64", FROM_PYTHON],
  ] as const)("is written as the peer reads it: %s", (files, wire) => {
    const part: Part = { kind: "raw", bytes: PNG, mediaType: "image/png" };
    const operation: Operation = {
      kind: "send",
      delivery: "answer",
      task: "auto",
      envelope: { id: "m", ts: 0, src: "", dst: "", intent: "", role: "user", content: [part], context: {}, meta: {} },
    };
    const written = JSON.stringify(v03ProtoFor(files).encodeRequest(operation, undefined, () => undefined)?.params);
    expect(written).toContain(`"fileWithBytes":"${wire}"`);
  });
});

test.each([
  ["python-httpx/0.28.1", "base64"],
  ["grpc-python-asyncio/1.76.0 grpc-c/51.0.0 (linux; chttp2)", "base64"],
  ["grpc-go/1.79.0", "base64"],
  ["Go-http-client/2.0", "base64"],
  ["uvicorn", "base64"],
  ["grpc-node-js/1.14.0", "raw"],
  ["node", "raw"],
  ["curl/8.5.0", "auto"],
  [undefined, "auto"],
])("%s is software of the kind %s", (software, files) => {
  expect(filesOf(software)).toBe(files);
});
