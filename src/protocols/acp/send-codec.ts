import { AgentError } from "../../envelope/index.js";
import { blame, optional, readObject, readText } from "../../transport/fields.js";
import { NestedJson } from "../../transport/json.js";
import { DEFAULT_LIMITS } from "../../transport/limits.js";
import type { SendCodec } from "../protocol.js";
import { type CodecFacts, decodeRunRequest, encodeRunRequest, isUuid, sendOf } from "./codec.js";

const ignore = (): void => undefined;
const DELIVERY = { sync: "answer", async: "accepted", stream: "stream" } as const;

/** `POST /runs` with headers and body in one text, because envelope members are carried in a header. */
export const sendCodec: SendCodec = {
  write(send) {
    const { dst, context } = send.envelope;
    const session = context.sessionId !== undefined && isUuid(context.sessionId) ? context.sessionId : undefined;
    return JSON.stringify(encodeRunRequest(send, dst, session, ignore));
  },

  read(text) {
    try {
      const { body, headers } = readObject(JSON.parse(text), "");
      const facts: CodecFacts = {
        now: 0,
        newId: () => "",
        src: "",
        dst: readText(readObject(body, "body").agent_name, "agent_name"),
        partsPerMessage: DEFAULT_LIMITS.partsPerMessage,
        nested: new NestedJson(DEFAULT_LIMITS),
        reportLoss: ignore,
        headers: optional(headers, "headers", readHeaders),
      };
      const request = decodeRunRequest(body, facts);
      return { kind: "send", envelope: sendOf(request).envelope, delivery: DELIVERY[request.mode], task: "always" };
    } catch (thrown) {
      if (thrown instanceof SyntaxError) throw new AgentError("decode", "the text is not JSON", { cause: thrown });
      throw blame(thrown, "invalid_message");
    }
  },
};

function readHeaders(value: unknown, path: string): { readonly [name: string]: string } {
  const headers = readObject(value, path);
  for (const name in headers) readText(headers[name], `${path}.${name}`);
  return headers as { readonly [name: string]: string }; // each was just read as a string
}
