import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Envelope, type ErrorCode, NO_CONTEXT, newEnvelope, textOf } from "../../../envelope/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { decodeReply, decodeRequest, encodeReply, encodeRequest, readReply, readRequest } from "../codec.js";
import { decodeErrorReply } from "../errors.js";

interface Recorded {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly request?: string;
  readonly status: number;
  readonly contentType: string;
  readonly response: string;
}

interface Members {
  readonly protocolHash: string | null;
  readonly protocolSources: readonly string[] | null;
  readonly body: string;
  readonly multiround?: true;
}

const RECORDED = JSON.parse(readFileSync("src/protocols/agora/fixtures/python-0.2.0.json", "utf8")) as readonly Recorded[];
/** Sent without the library, because its sender never sends these. */
const HAND_MADE = /^error: (protocolSources|no JSON|another content type|a list|body is missing)/;

/** Written by the library's sender. */
const REQUESTS = RECORDED.filter(({ method, name }) => method === "POST" && !HAND_MADE.test(name));
const REPLIES = RECORDED.filter(({ contentType }) => contentType === "application/json");
const SUCCESSES = REPLIES.filter(({ response }) => response.includes('"status":"success"'));
const ERRORS = REPLIES.filter(({ response }) => response.includes('"status":"error"'));

const facts = { now: 1_700_000_000_000, newId: () => "new-id", src: "caller", dst: "agent" };
const failOnLoss = (): never => {
  throw new Error("something was lost");
};
const plain = (content: string): Envelope =>
  newEnvelope({ content, src: "", dst: "", context: NO_CONTEXT }, { now: () => facts.now, newId: facts.newId });
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const membersOf = ({ request = "" }: Recorded): Members => JSON.parse(request) as Members; // written by the library

describe("requests that the sender of agora-protocol 0.2.0 wrote", () => {
  it("of every kind were recorded", () => {
    const kinds = REQUESTS.map(membersOf).map(({ protocolHash, multiround }) => `${kindOf(protocolHash)} ${multiround ?? false}`);
    expect(new Set(kinds)).toEqual(
      new Set(["natural true", "natural false", "negotiation true", "document false", "document true"]),
    );
  });

  it.each(REQUESTS)("is decoded: $name, $path", (recorded) => {
    const { protocolHash, body, multiround, protocolSources } = membersOf(recorded);
    const read = readRequest(membersOf(recorded));
    expect(read).toMatchObject({ hash: protocolHash, body, multiround: multiround ?? false });
    if (kindOf(protocolHash) === "document") expect(read.sources).toEqual(protocolSources);
    const envelope = decodeRequest(read, { ...facts, intent: undefined, json: false, sessionId: undefined, taskId: undefined });
    expect(textOf(envelope.content)).toBe(body);
  });

  it.each(REQUESTS)("is encoded identically: $name, $path", (recorded) => {
    const { protocolHash: hash, protocolSources: sources, body, multiround = false } = membersOf(recorded);
    const envelope = plain(body);
    const form = { hash, sources, multiround, json: false, whole: false };
    const { metadata: _ours, ...written } = encodeRequest(envelope, form, failOnLoss);
    expect(asJson(written)).toEqual(membersOf(recorded));
  });
});

describe("requests that its receiver rejects are rejected", () => {
  it.each(["error: a list", "error: body is missing in a conversation"])("%s", (name) => {
    const bad = RECORDED.findLast((each) => each.name === name)?.request ?? "";
    expect(() => readRequest(JSON.parse(bad))).toThrow(DecodeProblem);
  });
});

describe("replies that the receiver of agora-protocol 0.2.0 wrote", () => {
  it.each(SUCCESSES)("is decoded: $name, $method $path", ({ response }) => {
    const wire = JSON.parse(response) as { readonly body?: string; readonly conversationId?: string };
    const reply = readReply(wire);
    expect(reply).toMatchObject({ status: "success", body: wire.body ?? "", conversationId: wire.conversationId });
    const message = decodeReply(reply, { ...facts, sessionId: "mine", parentId: "asked", traceId: undefined });
    expect([textOf(message.content), message.role, message.context.sessionId]).toEqual([wire.body ?? "", "agent", "mine"]);
  });

  it.each(SUCCESSES.filter(({ method }) => method === "POST"))("is encoded identically: $name, $path", ({ response }) => {
    const { body, conversationId } = JSON.parse(response) as { readonly body: string; readonly conversationId?: string };
    const message: Envelope = { ...plain(body), role: "agent" };
    const form = { conversationId, whole: false, json: false, task: undefined };
    expect(asJson(encodeReply(message, form, failOnLoss))).toEqual(JSON.parse(response));
  });

  // Only two of its error texts are reliable enough for a program.
  const CODES: { readonly [name: string]: ErrorCode } = {
    "error: a document nobody serves": "unsupported",
    "error: a conversation that is over": "session_expired",
  };

  it.each(ERRORS)("is an error: $name", ({ name, response, status }) => {
    const { code, message } = decodeErrorReply(readReply(JSON.parse(response)), { status });
    expect([code, message]).toEqual([CODES[name] ?? "bad_peer", (JSON.parse(response) as { readonly message: string }).message]);
  });

  it("include at least ten errors", () => {
    expect(ERRORS.length).toBeGreaterThanOrEqual(10);
  });
});

function kindOf(hash: string | null): string {
  return hash === null ? "natural" : hash === "negotiation" ? hash : "document";
}
