/**
 * Converts between the session toy and the envelope. Pure: what cannot be carried goes to the loss sink, and invalid input throws
 * DecodeProblem with the name of the field.
 *
 *   client   encodeOperation(operation, reportLoss) → { op, args }    decodeEvent(wire, limits) → AgentEvent
 *   server   decodeOperation(op, args, limits) → Operation            encodeEvent(event, reportLoss) → JsonObject
 *   both     encodeMessage(envelope, path, reportLoss), decodeMessage(wire, path, limits): what `say` carries
 */
export { agentUrl, cardAt, decodeCard, encodeCard, sessionUrl } from "./codec/card.js";
export { decodeEvent, encodeEvent } from "./codec/event.js";
export { CARRIED, type DecodeLimits, decodeMessage, encodeMessage } from "./codec/message.js";
export { decodeOperation, encodeOperation, isOp } from "./codec/operation.js";
