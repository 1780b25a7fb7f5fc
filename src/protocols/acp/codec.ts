/**
 * Converts between BeeAI ACP and the envelope. Pure: clock, ids and names come as `CodecFacts`, losses go to its sink, and
 * invalid input throws DecodeProblem.
 *
 *   server   decodeRunRequest(body, facts) → RunRequest      decodeResume(body, facts) → { mode, message }
 *            sendOf(request) → { envelope }                  encodeRun(task, runFacts) → WireRun
 *            new RunEventWriter(runFacts, opening?).write(event) → WireEvent[]
 *            eventText(wireEvent), runText(wireRun), runRequestText(body) → JSON
 *            encodeManifest(card) → WireManifest             encodeMessage(envelope, agentName) → WireMessage
 *   client   encodeRunRequest(operation, agentName, sessionId, reportLoss) → { body, headers }
 *            encodeResume(operation, runId, reportLoss) → { body, headers }
 *            decodeRun(wire, facts) → Task                   new RunEventReader(facts).read(item) → Event[]
 *            decodeManifest(wire) → Card
 */

export { RunEventReader } from "./codec/event-reader.js";
export { eventText, runRequestText, runText } from "./codec/event-text.js";
export { type Opening, RunEventWriter } from "./codec/event-writer.js";
export type { CodecFacts, RunFacts } from "./codec/facts.js";
export { decodeManifest, encodeManifest } from "./codec/manifest.js";
export { encodeMessage } from "./codec/message.js";
export {
  decodeResume,
  decodeRunRequest,
  encodeResume,
  encodeRunRequest,
  type RunRequest,
  sendOf,
} from "./codec/request.js";
export { decodeAnswer, decodeRun, encodeReply, encodeRun, isUuid, outputLength } from "./codec/run.js";
