import { AgentError } from "../../envelope/index.js";
import { blame } from "../../transport/fields.js";
import { DEFAULT_LIMITS } from "../../transport/limits.js";
import type { SendCodec } from "../protocol.js";
import { type DecodeFacts, decodeOperation, encodeOperation, operationOf, readCallerMessage, writeRequest } from "./codec.js";

const ignore = (): void => undefined;
const RPC_ID = 1;
const FACTS: DecodeFacts = {
  partsPerMessage: DEFAULT_LIMITS.partsPerMessage,
  ts: 0,
  src: "",
  dst: "",
  newId: () => "",
};

/** `koine.send` as JSON-RPC, without its signature. */
export const sendCodec: SendCodec = {
  write(send) {
    const { method, params } = encodeOperation(send, ignore);
    return writeRequest(RPC_ID, method, params);
  },

  read(text) {
    try {
      const message = readCallerMessage(JSON.parse(text));
      const name = message.kind === "request" ? operationOf(message.method) : undefined;
      if (message.kind !== "request" || name !== "send")
        throw new AgentError("unsupported_method", "the text is not a send", { field: "method" });
      const operation = decodeOperation(name, message.params, FACTS);
      if (operation.kind !== "send") throw new AgentError("internal", `a send was read as ${operation.kind}`);
      return operation;
    } catch (thrown) {
      if (thrown instanceof SyntaxError) throw new AgentError("decode", "the text is not JSON", { cause: thrown });
      throw blame(thrown, "invalid_message");
    }
  },
};
