import { AgentError } from "../../envelope/index.js";
import { blame } from "../../transport/fields.js";
import type { SendCodec } from "../protocol.js";
import { decodeRequest, encodeRequest, type RequestFacts, type RequestForm, readRequest } from "./codec.js";

const ignore = (): void => undefined;
const ALONE: RequestForm = { hash: null, sources: [], multiround: false, json: false, whole: true };
const IN_SESSION: RequestForm = { ...ALONE, multiround: true };
const FACTS: RequestFacts = {
  now: 0,
  newId: () => "",
  src: "",
  dst: "",
  intent: undefined,
  json: false,
  sessionId: undefined,
  taskId: undefined,
};

/** A message in natural language to a Koine peer, as the client writes it and the server reads it. */
export const sendCodec: SendCodec = {
  write({ envelope, delivery }) {
    const form = envelope.context.sessionId === undefined ? ALONE : IN_SESSION;
    const accepted = delivery === "accepted";
    return JSON.stringify(encodeRequest(envelope, accepted ? { ...form, prefer: "receipt" } : form, ignore));
  },

  read(text) {
    try {
      const request = readRequest(JSON.parse(text));
      const delivery = request.metadata.prefer === "receipt" ? "accepted" : "answer";
      return { kind: "send", envelope: decodeRequest(request, FACTS), delivery, task: request.multiround ? "always" : "auto" };
    } catch (thrown) {
      if (thrown instanceof SyntaxError) throw new AgentError("decode", "the text is not JSON", { cause: thrown });
      throw blame(thrown, "invalid_message");
    }
  },
};
