import type { KnownGaps } from "../run.js";

const LAX = "reads every member with String(), Number() or a default, and checks messageId and the message's presence only";
const onBoth = (key: string, reason: string): KnownGaps => ({
  [`a2a:1.0:jsonrpc:${key}`]: reason,
  [`a2a:1.0:rest:${key}`]: reason,
});
const onAll = (key: string, reason: string): KnownGaps => ({ ...onBoth(key, reason), [`a2a:1.0:grpc:${key}`]: reason });
const onOld = (key: string, reason: string): KnownGaps => ({
  [`a2a:0.3:jsonrpc:${key}`]: reason,
  [`a2a:0.3:rest:${key}`]: reason,
  [`a2a:0.3:grpc:${key}`]: reason,
});
const onBothGrpc = (key: string, reason: string): KnownGaps => ({
  [`a2a:1.0:grpc:${key}`]: reason,
  [`a2a:0.3:grpc:${key}`]: reason,
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
/** Those that protobuf can say. */
const UNCHECKED_IN_PROTOBUF = ["no-role", "no-parts", "part-empty", "history-negative"];
const WRONG_CODE = "answers -32602 where JSON-RPC 2.0 says -32600";

const NEGATIVE = "over JSON-RPC and gRPC a negative length is taken as zero; over REST it is refused";
const SHOWN = "gives a config back as it was set, secrets included";

/** Where `@a2a-js/sdk` 1.3.0 departs from the specification, each looked at by hand. */
export const a2aJs130Gaps: KnownGaps = {
  "a2a:card:old-path": "serves the card at the current path only",
  ...onAll("version:patch", "compares the whole version text"),
  ...onBoth("version:query", "reads the header only"),
  ...onAll("list:since-inclusive", "its memory store compares with > where the specification says >="),
  ...onAll("stream:validates", LAX),
  ...onAll("error:agent-throws", "puts the text of any error an executor throws into the failed task's message"),
  ...onBoth("edge:deep", "recurses over metadata and reports its own stack overflow as an internal error"),
  ...onBoth("edge:invalid-utf8", "decodes with replacement characters"),
  ...onAll("push:no-url", LAX),
  ...onAll("push:private-address", "stores any address; the sender is left to refuse it"),
  ...onAll("push:no-secrets", SHOWN),
  ...onOld("push:no-secrets", SHOWN),
  ...onOld("delivery:form", "sends the form of 1.0 to all webhooks, unless its sender for both versions is put in by hand"),
  ...onBothGrpc("grpc:compressed-flag", "grpc-js reads a message marked as compressed as it is when no encoding is named"),
  ...onBothGrpc("grpc:invalid-utf8", "decodes with replacement characters"),
  "a2a:1.0:grpc:grpc:unknown-enum": LAX,
  "a2a:1.0:jsonrpc:history:negative": NEGATIVE,
  "a2a:1.0:grpc:history:negative": NEGATIVE,
  "a2a:1.0:jsonrpc:list:history-negative": NEGATIVE,
  "a2a:1.0:grpc:list:history-negative": NEGATIVE,
  "a2a:1.0:jsonrpc:rpc:empty": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:batch": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:empty-batch": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:wrong-version": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:no-version": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:no-method": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:method-number": WRONG_CODE,
  "a2a:1.0:jsonrpc:rpc:id-object": WRONG_CODE,
  ...onOld("error:agent-throws", "as in 1.0"),
  "a2a:0.3:jsonrpc:edge:deep": "as in 1.0",
  ...Object.assign(
    {},
    ...UNCHECKED_IN_PROTOBUF.map((key) => ({
      [`a2a:1.0:grpc:validation:${key}`]: LAX,
      [`a2a:1.0:grpc:validation:${key}:named`]: LAX,
    })),
  ),
  ...Object.assign({}, ...UNCHECKED.flatMap((key) => [onBoth(`validation:${key}`, LAX), onBoth(`validation:${key}:named`, LAX)])),
};
