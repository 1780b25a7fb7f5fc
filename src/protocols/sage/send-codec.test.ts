import { expect, test } from "vitest";
import { type Envelope, isObject, type JsonObject } from "../../envelope/index.js";
import { a2a } from "../a2a/index.js";
import { sageOver } from "./index.js";

/** The codec alone. That it reads what it writes is checked for all protocols together. */

const { codec } = sageOver(a2a);
const ENVELOPE: Envelope = {
  id: "7a3c0b52-5d61-4f0e-9b7a-0d6f2c1e8a04",
  ts: 0,
  src: "ann",
  dst: "desk",
  intent: "",
  role: "user",
  content: [{ kind: "text", text: "hello" }],
  context: {},
  meta: {},
};

function written(): JsonObject {
  return JSON.parse(codec?.write({ kind: "send", envelope: ENVELOPE, delivery: "answer", task: "auto" }) ?? "") as JsonObject;
}

/** The text, with another value at a path. */
function changed(path: readonly string[], value: unknown): string {
  const text = written();
  let at: JsonObject = text;
  for (const name of path.slice(0, -1)) {
    const next: unknown = at[name];
    if (!isObject(next) && !Array.isArray(next)) throw new Error(`there is no ${name}`);
    at = next as JsonObject;
  }
  Object.assign(at, { [path.at(-1) ?? ""]: value });
  return JSON.stringify(text);
}

test("what the author signs begins as the profile says, and names the recipient", () => {
  const { params } = written() as { readonly params: { readonly message: { readonly metadata: JsonObject } } };
  const { proofs } = params.message.metadata["urn:koine:envelope:1"] as {
    readonly proofs: readonly [{ readonly signed: string }];
  };
  const [prefix, json = ""] = Buffer.from(proofs[0].signed, "base64").toString().split("\n");
  expect(prefix).toBe("koine-sage-message|1");
  expect(JSON.parse(json)).toMatchObject({ v: "1", recipient: "desk", parts: [{ kind: "text", text: "hello" }] });
});

test.each([
  [["params", "message", "parts", "0", "text"], "goodbye", "ErrInvalidSignature"],
  [["params", "message", "messageId"], "another", "ErrInvalidSignature"],
  [["params", "message", "metadata"], {}, "ErrInvalidSignature"],
  [["params", "message", "metadata", "urn:koine:sage:1"], {}, "ErrInvalidSignature"],
  [["params", "message", "metadata", "urn:koine:sage:1", "security", "mode"], "none", "ErrInvalidSignature"],
])("a text with another %j is refused", (path, value, name) => {
  expect(() => codec?.read(changed(path, value))).toThrow(expect.objectContaining({ name }));
});

test("a recipient that is not known yet has a DID that is nobody's", () => {
  const send = { kind: "send", envelope: { ...ENVELOPE, dst: "" }, delivery: "answer", task: "auto" } as const;
  expect(codec?.read(codec.write(send)).envelope.dst).toMatch(/^did:sage:local:0x0{40}$/);
});
