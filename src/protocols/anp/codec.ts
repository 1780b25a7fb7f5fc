/**
 * Converts between ANP and the envelope. Pure: clock, ids and names come as `DecodeFacts`, and invalid input throws DecodeProblem with
 * the name of the field.
 *
 *   messages of calls   writeRequest, writeEvent, writeResult, writeError, writeCancel, writeSay; readCallerMessage, readCalleeMessage
 *   client              encodeOperation(operation, reportLoss) → { method, params }   decodeEvent(wire, facts) → AgentEvent
 *   server              decodeOperation(name, params, facts) → Operation              encodeEvent(event) → JsonObject
 *   both                encodeMessage(envelope), decodeMessage(wire, path, facts): what `say` carries
 */
export { decodeEvent, encodeEvent } from "./codec/event.js";
export { decodeMessage, encodeMessage } from "./codec/message.js";
export { decodeOperation, type EncodedCall, encodeOperation, operationOf, streams } from "./codec/operation.js";
export type { DecodeFacts } from "./codec/part.js";
export {
  type CalleeMessage,
  type CallerMessage,
  type CallFacts,
  readCalleeMessage,
  readCallerMessage,
  readCallFacts,
  writeCallFacts,
  writeCancel,
  writeError,
  writeEvent,
  writeRequest,
  writeResult,
  writeSay,
} from "./codec/rpc-messages.js";
