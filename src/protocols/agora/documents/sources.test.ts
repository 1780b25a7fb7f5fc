import { describe, expect, it } from "vitest";
import { AgentError } from "../../../envelope/index.js";
import { protocolHash } from "./hash.js";
import { DOCUMENT_BYTES } from "./library.js";
import { dataUriOf, findDocument, MOST_SOURCES, SOURCE_MS, textInDataUri } from "./sources.js";

const SAMPLE = "---\nname: Echo\ndescription: ECHO protocol\nmultiround: false\n---\nECHO the JSON body back.\n";
const HASH = "L9xl1shodRYEKdIIT3ydYkazG8M=";
const BASE64 =
  "data:text/plain;charset=utf-8;base64,LS0tCm5hbWU6IEVjaG8KZGVzY3JpcHRpb246IEVDSE8gcHJvdG9jb2wKbXVsdGlyb3VuZDogZmFsc2UKLS0tCkVDSE8gdGhlIEpTT04gYm9keSBiYWNrLgo=";
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("data URIs", () => {
  it("are read in both of the library's forms", () => {
    expect(textInDataUri(BASE64)).toBe(SAMPLE);
  });

  it("are not read in any other form", () => {
    for (const other of [
      "data:,x",
      "data:text/plain,x",
      "data:text/html;charset=utf-8,x",
      "DATA:text/plain;charset=utf-8,x",
      "data:text/plain;charset=utf-8;base64,@@@",
      "data:text/plain;charset=utf-8;base64,/w==",
      `data:text/plain;charset=utf-8,${"%41".repeat(DOCUMENT_BYTES + 100)}`,
    ])
      expect(textInDataUri(other), other.slice(0, 60)).toBeUndefined();
  });

  it("are percent-decoded as Python does it", () => {
    // urllib.parse.unquote of CPython 3.12 gives exactly these.
    const cases = { "100%": "100%", "%zz%41": "%zzA", "%C3%BC": "ü", "%FF": "\uFFFD", "%e2%82x": "\uFFFDx", "a+b": "a+b" };
    for (const [written, read] of Object.entries(cases))
      expect(textInDataUri(`data:text/plain;charset=utf-8,${written}`), written).toBe(read);
  });
});

describe("findDocument()", () => {
  const refusing = async (): Promise<never> => Promise.reject(new AgentError("forbidden", "a private address"));

  it("accepts a text only with the right hash", async () => {
    expect(await findDocument(HASH, [dataUriOf(SAMPLE)], undefined)).toBe(SAMPLE);
    expect(await findDocument(HASH, [dataUriOf(`${SAMPLE} `)], undefined)).toBeUndefined();
  });

  it("tries every source independently", async () => {
    const requests: string[] = [];
    const follow = async (url: string): Promise<Uint8Array> => {
      requests.push(url);
      if (url.endsWith("/good")) return bytes(SAMPLE);
      if (url.endsWith("/lies")) return bytes("another text");
      throw new AgentError("unavailable", "connection refused");
    };
    const sources = ["ftp://a/x", "http://a/refused", "https://a/lies", "data:text/html,x", "https://a/good", "https://a/never"];
    expect(await findDocument(HASH, sources, follow)).toBe(SAMPLE);
    expect(requests).toEqual(["http://a/refused", "https://a/lies", "https://a/good"]);
  });

  it("fetches only if no data URI has the text, within the limits", async () => {
    const limits: unknown[] = [];
    const follow = async (_url: string, given: unknown): Promise<Uint8Array> => {
      limits.push(given);
      return new Uint8Array([0xff]);
    };
    expect(await findDocument(HASH, ["https://a/x", dataUriOf(SAMPLE)], follow)).toBe(SAMPLE);
    expect(limits).toEqual([]);
    expect(await findDocument(HASH, ["https://a/not-utf8"], follow)).toBeUndefined();
    expect(limits).toEqual([{ bytes: DOCUMENT_BYTES, timeoutMs: SOURCE_MS }]);
  });

  it("returns undefined without sources, and fetches nothing if disabled", async () => {
    expect(await findDocument(HASH, [], refusing)).toBeUndefined();
    expect(await findDocument(HASH, ["http://127.0.0.1/x"], refusing)).toBeUndefined();
    expect(await findDocument(HASH, ["http://a/x"], undefined)).toBeUndefined();
  });

  it("rejects too many sources", async () => {
    const many = Array.from({ length: MOST_SOURCES + 1 }, () => dataUriOf(SAMPLE));
    await expect(findDocument(HASH, many, undefined)).rejects.toMatchObject({ code: "invalid_message" });
    expect(await findDocument(await protocolHash(SAMPLE), many.slice(1), undefined)).toBe(SAMPLE);
  });
});
