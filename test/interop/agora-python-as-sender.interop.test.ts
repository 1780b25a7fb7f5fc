import { describe, expect, test } from "vitest";
import type { ServeOptions } from "../../src/index.js";
import { a2a } from "../../src/protocols/a2a/index.js";
import { agora } from "../../src/protocols/agora/index.js";
import { LIST, startAgora, TEMPERATURE, UNSERVED } from "../peers/agora.js";
import { pythonFor, runScript } from "./python.js";

const URI = '["data:text/plain;charset=utf-8"]';
/** The hash by the library's own function of a document that is not served. */
const NOT_SUITABLE = "hyKn4D45kTdjlG26vjlrSzzaYVM= is not suitable for execution";
const NO_JSON = "body must be JSON text, as the protocol document requires";

interface InterfaceUnderTest {
  readonly what: string;
  readonly path: "" | "/agora";
  readonly options: ServeOptions;
  readonly document?: string;
}

const INTERFACES: readonly InterfaceUnderTest[] = [
  { what: "at the root", path: "", options: {} },
  { what: "at /agora", path: "/agora", options: {} },
  { what: "at a root that A2A shares", path: "", options: { protocols: [a2a, agora] } },
  // The library's negotiator trims stored documents, so its sender uses the hash of the text without the newline.
  { what: "with a document that ends with a newline", path: "", options: {}, document: `${TEMPERATURE}\n` },
  { what: "in the demo's dialect", path: "", options: { settings: { agora: { dialect: "demo" } } } },
];

/** All results of the sender, from one run of its script. */
async function seenBySender(iface: Omit<InterfaceUnderTest, "what">): Promise<{ readonly [check: string]: unknown }> {
  const { document = TEMPERATURE } = iface;
  const server = await startAgora(iface.options, document);
  try {
    const gone = `${server.url}/protocols/gone`;
    const documents = JSON.stringify({ served: document, "many rounds": LIST, nobody: UNSERVED, gone });
    return await runScript({ environment: "agora-0.2.0", file: "agora_sender" }, server.url + iface.path, documents);
  } finally {
    await server.close();
  }
}

/** The results of each kind of task, with the requests sent for it. */
function tasks(path: InterfaceUnderTest["path"]): { readonly [check: string]: unknown } {
  const first = `POST ${path || "/"}`;
  const next = `POST ${path}/conversations/ID`;
  const end = `DELETE ${path}/conversations/ID 200`;
  const success = (body: string): unknown => ({ status: "success", body });
  return {
    "natural language": { answer: 21, wire: [`${first} None [] multiround 200`, end] },
    document: { answer: 21, wire: [`${first} document ${URI} single 200`] },
    routine: { answer: 21, wire: [`${first} document ${URI} single 200`] },
    conversation: {
      answer: [success("you said: one"), success("you said: two"), success("you said: three")],
      wire: [`${first} None [] multiround 200`, ...Array<string>(2).fill(`${next} None [] multiround 200`), end],
    },
    "many rounds": {
      answer: [success("3"), success("3")],
      wire: [`${first} document ${URI} multiround 200`, `${next} document ${URI} multiround 200`, end],
    },
  };
}

/** 18 equal tasks by the library's own thresholds. The receiver has its routine registered and uses no model. */
function trace(path: InterfaceUnderTest["path"]): readonly unknown[] {
  const first = `POST ${path || "/"}`;
  const end = `DELETE ${path}/conversations/ID 200`;
  const byDocument = `${first} document ${URI} single 200`;
  const natural = { answer: 21, wire: [`${first} None [] multiround 200`, end], models: ["conversation"] };
  const negotiated = [`${first} negotiation null multiround 200`, end, byDocument];
  const followed = { answer: 21, wire: [byDocument], models: ["conversation"] };
  return [
    ...Array<unknown>(10).fill(natural),
    { answer: 21, wire: negotiated, models: ["conversation", "negotiation"] },
    ...Array<unknown>(4).fill(followed),
    { answer: 21, wire: [byDocument], models: ["programming"] },
    ...Array<unknown>(2).fill({ answer: 21, wire: [byDocument], models: [] }),
  ];
}

/** The library raises for all of them: none is treated as an answer. */
function refusals(written: (words: string) => string): { readonly [check: string]: unknown } {
  const raised = (words: string): unknown => ({
    raised: "ProtocolTransportError",
    text: `Error in external conversation: ${written(words)}`,
  });
  return {
    "a document nobody serves": raised(NOT_SUITABLE),
    "a document nobody serves, in a conversation": raised(NOT_SUITABLE),
    // The tool's result reports it to the model, which calls the error tool.
    "a document nobody serves, by the model": {
      raised: "ExecutionError",
      text: `Error calling the tool: Error in external conversation: ${written(NOT_SUITABLE)}`,
    },
    "a document nobody serves, by a routine": raised(NOT_SUITABLE),
    "no source": raised("Failed to download protocol"),
    "a source with another text": raised("Failed to download protocol"),
    // Nothing could follow the document, so its sources are not fetched.
    "a source that is gone": raised("fot7e9gHz8s5R7ICFfjaUbJyfDI= is not suitable for execution"),
    "a body the document does not allow": raised(NO_JSON),
    "an agent that fails": raised("as commanded"),
    "an agent that throws": raised("the agent failed unexpectedly"),
    "an agent that throws, in a conversation": raised("the agent failed unexpectedly"),
    "a conversation that is over": raised("Conversation not found."),
  };
}

const asError = (words: string): string => `{"status":"error","message":"${words}","body":"${words}"}`;
const asFailure = (words: string): string => `{"status":"failure","body":"${words}"}`;
const afterwards = { answer: [{ status: "success", body: "you said: hello" }] };

describe.skipIf(pythonFor("agora-0.2.0") === undefined)("the sender of agora-protocol 0.2.0 against our server", () => {
  test.each(INTERFACES)("$what: every task is done, every refusal is raised", async (iface) => {
    expect(await seenBySender(iface)).toEqual({
      ...tasks(iface.path),
      trace: trace(iface.path),
      ...refusals(asError),
      afterwards,
    });
  });

  test("in the specification's dialect: it cannot parse a rejected document, but does not treat it as an answer", async () => {
    expect(await seenBySender({ path: "", options: { settings: { agora: { dialect: "spec" } } } })).toEqual({
      ...tasks(""),
      trace: trace(""),
      ...refusals(asFailure),
      // The specification requires 200 and exactly {"status":"rejected"}, where this sender expects a body.
      "a document nobody serves": { raised: "KeyError", text: "'body'" },
      "a document nobody serves, in a conversation": {
        raised: "Exception",
        text: "('Multiround conversation did not return conversationId:', {'status': 'rejected'})",
      },
      "a document nobody serves, by the model": { raised: "ExecutionError", text: "Error calling the tool: 'body'" },
      "a document nobody serves, by a routine": { raised: "KeyError", text: "'body'" },
      "a source that is gone": { raised: "KeyError", text: "'body'" },
      afterwards,
    });
  });
});
