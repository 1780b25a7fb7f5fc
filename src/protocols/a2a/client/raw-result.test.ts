import { describe, expect, it } from "vitest";
import { bodyBytes, rawMember } from "./raw-result.js";

const text = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : new TextDecoder().decode(bytes);

describe("the raw text of a member", () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"result":{"a":[1,{"b":2}],"n":1.0}}', '{"a":[1,{"b":2}],"n":1.0}'],
    ['{"result" : { "x" : "}]\\",\\"result\\":1" } , "id":1}', ' { "x" : "}]\\",\\"result\\":1" } '],
    [String.raw`{"\u0072esult":true}`, "true"],
    ['{"error":{"result":1},"list":[{"result":2}],"result":"é"}', '"é"'],
    ['{"result":1,"result":2}', "2"],
    ['{"id":"result","other":"result"}', undefined],
    ['["result",1]', undefined],
    ["{}", undefined],
  ])("%s", (document, expected) => {
    expect(JSON.parse(document)).toBeDefined();
    expect(text(rawMember(new TextEncoder().encode(document), "result"))).toBe(expected);
  });

  it("accepts every kind of body", () => {
    expect(text(bodyBytes({ status: 200, headers: {}, body: "é" }))).toBe("é");
    expect(bodyBytes({ status: 204, headers: {}, body: undefined })).toHaveLength(0);
  });
});
