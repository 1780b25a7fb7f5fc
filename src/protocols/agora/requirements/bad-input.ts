import type { RawResponse } from "../../ask.js";
import { demand, show } from "../../check.js";
import { type AgoraRequirement, demandRefused, natural, type Probe, post, postText, stillServes } from "./probe.js";
import { isReply, readReply } from "./reply.js";

const SERVER = "agora-protocol 0.2.0, receiver/server.py";
const SPEC = "Agora specification (specs.html, 2024), transport";
const DEPTH = 5_000;

/** A requirement to reject an invalid message. */
function refuses(
  key: string,
  what: string,
  level: "must" | "should",
  send: (probe: Probe) => Promise<RawResponse>,
): AgoraRequirement {
  return {
    key: `input:${key}`,
    capability: "edge-cases",
    level,
    source: level === "must" ? SERVER : SPEC,
    behaviour: `${what} is rejected with an Agora error.`,
    async run(probe) {
      demandRefused(await send(probe));
    },
  };
}

/** Invalid input. The server must answer with an Agora error and stay available. */
export const badInputRequirements: readonly AgoraRequirement[] = [
  refuses("no-json", "A body that is not JSON", "must", (probe) => postText(probe, "no JSON")),
  refuses("cut-off", "Truncated JSON", "must", (probe) => postText(probe, '{"protocolHash":null,"body":"he')),
  refuses("empty", "An empty body", "must", (probe) => postText(probe, "")),
  refuses("list", "A list", "must", (probe) => postText(probe, "[]")),
  refuses("text", "A JSON string", "must", (probe) => postText(probe, '"hello"')),
  refuses("null", "null", "must", (probe) => postText(probe, "null")),
  refuses("nothing", "A message without members", "must", (probe) => post(probe, {})),
  refuses("body-absent", "A message without a body", "must", (probe) => post(probe, { protocolHash: null, protocolSources: [] })),
  refuses("body-null", "A body that is null", "should", (probe) => post(probe, natural(null))),
  refuses("body-number", "A body that is a number", "should", (probe) => post(probe, natural(7))),
  refuses("body-object", "A body that is an object", "should", (probe) => post(probe, natural({ a: 1 }))),
  refuses("multiround-text", "A multiround that is neither true nor false", "should", (probe) =>
    post(probe, natural("hello", { multiround: "yes" })),
  ),
  {
    ...refuses("metadata-text", "Metadata that is not an object", "should", (probe) =>
      post(probe, natural("hello", { metadata: "x" })),
    ),
    needs: ["koine"],
  },
  refuses("invalid-utf8", "A body that is not UTF-8", "should", (probe) =>
    postText(
      probe,
      new Uint8Array([...new TextEncoder().encode('{"protocolHash":null,"protocolSources":[],"body":"'), 0xc3, 0x28, 0x22, 0x7d]),
    ),
  ),
  refuses("other-type", "A body of type text/plain", "must", (probe) =>
    post(probe, natural("hello"), { headers: { "content-type": "text/plain" } }),
  ),
  {
    key: "input:other-type-status",
    capability: "security",
    level: "should",
    source: "RFC 9110 §15.5.16",
    behaviour: "A body of type text/plain, which any web page can send, is rejected with 415 or 400.",
    async run(probe) {
      const { status } = await post(probe, natural("hello"), { headers: { "content-type": "text/plain" } });
      demand(status === 415 || status === 400, `answered ${status}`);
    },
  },
  {
    key: "input:deep",
    capability: "edge-cases",
    source: "RFC 8259 §9",
    behaviour: "JSON 5,000 levels deep is accepted or rejected, never a server error.",
    async run(probe) {
      const deep = `${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}`;
      const got = await postText(probe, `{"protocolHash":null,"protocolSources":[],"body":"hello","later":${deep}}`);
      demand(got.status < 500, `answered ${got.status}`);
      await stillServes(probe);
    },
  },
  {
    key: "input:prototype",
    capability: "security",
    source: "CWE-1321",
    behaviour: "Members named __proto__ and constructor have no effect.",
    async run(probe) {
      const body = '{"__proto__":{"protocolHash":"x"},"constructor":{},"protocolHash":null,"protocolSources":[],"body":"hello"}';
      const got = await postText(probe, body);
      demand(isReply(got) && got.status < 500, `answered ${got.status} ${show(got.text)}`);
      await stillServes(probe);
    },
  },
  {
    key: "input:surrogates",
    capability: "edge-cases",
    source: "RFC 8259 §8.2",
    behaviour: "Half a surrogate pair and a NUL in a text are accepted or rejected, never a server error.",
    async run(probe) {
      for (const text of ["\\ud800", "\\u0000"]) {
        const got = await postText(probe, `{"protocolHash":null,"protocolSources":[],"body":"${text}"}`);
        demand(got.status < 500, `${text} was answered ${got.status}`);
        readReply(got);
      }
    },
  },
];
