import type { KnownGaps } from "../run.js";

const LAX = "reads every member with String(), Number() or a default, and checks messageId and the message's presence only";
const onBoth = (key: string, reason: string): KnownGaps => ({
  [`a2a:1.0:jsonrpc:${key}`]: reason,
  [`a2a:1.0:rest:${key}`]: reason,
});
const UNCHECKED = [
  "number-message-id",
  "no-role",
  "unspecified-role",
  "unknown-role",
  "no-parts",
  "empty-parts",
  "parts-object",
  "part-text",
  "part-empty",
  "part-double",
  "part-text-number",
  "part-raw-garbage",
  "metadata-list",
  "history-negative",
  "history-text",
  "configuration-list",
];
const WRONG_CODE = "answers -32602 where JSON-RPC 2.0 says -32600";

/** Where `@a2a-js/sdk` 1.3.0 departs from the specification, each looked at by hand. */
export const a2aJs130Gaps: KnownGaps = {
  "a2a:card:old-path": "serves the card at the current path only",
  ...onBoth("version:patch", "compares the whole version text"),
  ...onBoth("version:query", "reads the header only"),
  ...onBoth("list:since-inclusive", "its memory store compares with > where the specification says >="),
  ...onBoth("stream:validates", LAX),
  ...onBoth("error:agent-throws", "puts the text of any error an executor throws into the failed task's message"),
  ...onBoth("edge:deep", "recurses over metadata and reports its own stack overflow as an internal error"),
  ...onBoth("edge:invalid-utf8", "decodes with replacement characters"),
  ...onBoth("push:no-url", LAX),
  ...onBoth("push:private-address", "stores any address; the sender is left to refuse it"),
  "a2a:1.0:jsonrpc:history:negative": "over JSON-RPC a negative length is taken as zero; over REST it is refused",
  "a2a:1.0:jsonrpc:list:history-negative": "over JSON-RPC a negative length is taken as zero; over REST it is refused",
  "a2a:1.0:jsonrpc:rpc:empty": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:batch": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:empty-batch": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:wrong-version": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:no-version": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:no-method": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:method-number": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:id-object": WRONG_CODE,
  "a2a:0.3:jsonrpc:error:agent-throws": "as in 1.0",
  "a2a:0.3:rest:error:agent-throws": "as in 1.0",
  "a2a:0.3:jsonrpc:edge:deep": "as in 1.0",
  ...Object.assign({}, ...UNCHECKED.flatMap((key) => [onBoth(`validation:${key}`, LAX), onBoth(`validation:${key}:named`, LAX)])),
};
