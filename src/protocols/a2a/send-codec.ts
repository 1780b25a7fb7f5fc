import { AgentError } from "../../envelope/index.js";
import { blame } from "../../transport/fields.js";
import { encodeRpcRequest, parseRpcRequest } from "../../transport/json-rpc.js";
import { DEFAULT_LIMITS } from "../../transport/limits.js";
import type { SendCodec } from "../protocol.js";
import { v1 } from "./codec/codec-1.0.js";
import type { DecodeFacts } from "./dialect.js";

const ignore = (): void => undefined;
const RPC_ID = 1;
const FACTS: DecodeFacts = { now: 0, src: "", dst: "", partsPerMessage: DEFAULT_LIMITS.partsPerMessage, reportLoss: ignore };

/** `SendMessage` of A2A 1.0 over JSON-RPC. */
export const sendCodec: SendCodec = {
  write(send) {
    const encoded = v1.encodeRequest(send, undefined, ignore);
    if (encoded === undefined) throw new AgentError("internal", "A2A 1.0 has a send");
    return encodeRpcRequest(RPC_ID, encoded.name, encoded.params);
  },

  read(text) {
    try {
      const rpc = parseRpcRequest(JSON.parse(text));
      if (rpc.kind === "fault") throw new AgentError("invalid_message", rpc.message);
      const { method, params } = rpc;
      if (method !== "SendMessage" && method !== "SendStreamingMessage")
        throw new AgentError("unsupported_method", "the text is not a send", { field: "method" });
      const operation = v1.decodeRequest(method, params, FACTS);
      if (operation.kind !== "send") throw new AgentError("internal", `a send was read as ${operation.kind}`);
      return operation;
    } catch (thrown) {
      if (thrown instanceof SyntaxError) throw new AgentError("decode", "the text is not JSON", { cause: thrown });
      throw blame(thrown, "invalid_message");
    }
  },
};
