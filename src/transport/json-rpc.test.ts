import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  encodeRpcError,
  encodeRpcRequest,
  encodeRpcResult,
  parseRpcRequest,
  parseRpcResponse,
  readRpcRequest,
} from "./json-rpc.js";
import { makeRequest } from "./request.js";

const post = (body: string) => makeRequest({ method: "POST", url: "http://h/", body });

describe("parseRpcRequest", () => {
  test.each([
    [
      { jsonrpc: "2.0", id: 1, method: "m", params: { a: 1 } },
      { kind: "request", id: 1, method: "m", params: { a: 1 } },
    ],
    [
      { jsonrpc: "2.0", id: "x", method: "m", params: [1] },
      { kind: "request", id: "x", method: "m", params: [1] },
    ],
    [
      { jsonrpc: "2.0", id: null, method: "m" },
      { kind: "request", id: null, method: "m", params: undefined },
    ],
  ])("reads %j", (value, want) => {
    expect(parseRpcRequest(value)).toEqual(want);
  });

  test.each([
    [[], null, "a batch is not supported: send one request object"],
    ["x", null, "the request must be an object, not a string"],
    [{ id: 7, method: "m" }, 7, 'jsonrpc must be "2.0"'],
    [{ jsonrpc: "1.0", id: "a", method: "m" }, "a", 'jsonrpc must be "2.0"'],
    [{ jsonrpc: "2.0", method: "m" }, null, "id is missing; notifications are not supported"],
    [{ jsonrpc: "2.0", id: 1.5, method: "m" }, null, "id must be a string, a whole number or null"],
    [{ jsonrpc: "2.0", id: {}, method: "m" }, null, "id must be a string, a whole number or null"],
    [{ jsonrpc: "2.0", id: 2 ** 60, method: "m" }, null, "id must be a string, a whole number or null"],
    [{ jsonrpc: "2.0", id: "x".repeat(513), method: "m" }, null, "id has more than 512 characters"],
    [{ id: "x".repeat(513), method: "m" }, null, 'jsonrpc must be "2.0"'],
    [{ jsonrpc: "2.0", id: 1 }, 1, "method is missing"],
    [{ jsonrpc: "2.0", id: 1, method: 5 }, 1, "method must be a string, not a number"],
    [{ jsonrpc: "2.0", id: 1, method: "m", params: "p" }, 1, "params must be an object or an array, not a string"],
    [{ jsonrpc: "2.0", id: 1, method: "m", params: null }, 1, "params must be an object or an array, not null"],
  ])("refuses %j", (value, id, message) => {
    expect(parseRpcRequest(value)).toEqual({ kind: "fault", id, code: -32600, message });
  });

  test("accepts notifications where the protocol has them", () => {
    const want = { kind: "request", id: undefined, method: "m", params: undefined };
    expect(parseRpcRequest({ jsonrpc: "2.0", method: "m" }, { notifications: true })).toEqual(want);
  });

  test("never throws, whatever the JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(["request", "fault"]).toContain(parseRpcRequest(value).kind);
      }),
    );
  });
});

describe("readRpcRequest", () => {
  test("answers for a body that is no JSON, or too deep", () => {
    expect(readRpcRequest(post("{"))).toMatchObject({ kind: "fault", id: null, code: -32700 });
    expect(readRpcRequest(post(""))).toMatchObject({ kind: "fault", id: null, code: -32700 });
    expect(readRpcRequest(post("[".repeat(100)))).toMatchObject({ kind: "fault", id: null, code: -32600 });
    expect(readRpcRequest(post('{"jsonrpc":"2.0","id":1,"method":"m"}'))).toMatchObject({ kind: "request", id: 1, method: "m" });
  });
});

describe("encode", () => {
  test("writes the specification's forms", () => {
    expect(encodeRpcRequest(3, "subtract", { minuend: 42 })).toBe(
      '{"jsonrpc":"2.0","id":3,"method":"subtract","params":{"minuend":42}}',
    );
    expect(encodeRpcRequest("a", "ping", undefined)).toBe('{"jsonrpc":"2.0","id":"a","method":"ping"}');
    expect(encodeRpcResult('q"', 19)).toBe('{"jsonrpc":"2.0","id":"q\\"","result":19}');
    expect(encodeRpcResult(null, undefined)).toBe('{"jsonrpc":"2.0","id":null,"result":null}');
    expect(encodeRpcError(1, { code: -32601, message: "Method not found" })).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}',
    );
    expect(encodeRpcError(1, { code: 5, message: "m", data: [1] })).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"m","data":[1]}}',
    );
  });
});

describe("parseRpcResponse", () => {
  test("reads a result and an error", () => {
    expect(parseRpcResponse({ jsonrpc: "2.0", id: 1, result: null }, 1)).toEqual({ kind: "result", result: null });
    const error = { code: -32001, message: "gone", data: { a: 1 } };
    expect(parseRpcResponse({ jsonrpc: "2.0", id: 1, error }, 1)).toEqual({ kind: "error", error });
    expect(parseRpcResponse({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "m" } }, 1)).toMatchObject({
      kind: "error",
    });
    expect(parseRpcResponse({ jsonrpc: "2.0", id: 1, result: { a: 1 }, error: null }, 1)).toMatchObject({ kind: "result" });
  });

  test.each([
    [[], "the JSON-RPC response must be an object, not an array"],
    [{ id: 1, result: 1 }, 'jsonrpc must be "2.0"'],
    [{ jsonrpc: "2.0", id: 2, result: 1 }, "id is 2; the request had 1"],
    [{ jsonrpc: "2.0", id: "1", result: 1 }, 'id is "1"; the request had 1'],
    [{ jsonrpc: "2.0", id: null, result: 1 }, "id is null; the request had 1"],
    [{ jsonrpc: "2.0", id: 1 }, "the JSON-RPC response has neither result nor error"],
    [{ jsonrpc: "2.0", id: 1, result: 1, error: { code: 1, message: "m" } }, "the JSON-RPC response has both result and error"],
    [{ jsonrpc: "2.0", id: 1, error: "x" }, "error must be an object, not a string"],
    [{ jsonrpc: "2.0", id: 1, error: { code: "1", message: "m" } }, "error.code must be a whole number, not a string"],
    [{ jsonrpc: "2.0", id: 1, error: { code: 1 } }, "error.message must be a string, not undefined"],
  ])("refuses %j", (value, message) => {
    expect(() => parseRpcResponse(value, 1)).toThrow(message);
  });
});
