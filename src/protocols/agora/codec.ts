/** Converts between Agora messages and the envelope. Pure: no clock, no ids, no network. */
export { bodyOf } from "./codec/body.js";
export {
  aboutTask,
  decodeReply,
  encodeReply,
  type ReadReply,
  type ReplyFacts,
  type ReplyForm,
  readReply,
} from "./codec/reply.js";
export {
  decodeRequest,
  encodeRequest,
  keyIn,
  type ReadRequest,
  type RequestFacts,
  type RequestForm,
  readRequest,
  taskNamedIn,
} from "./codec/request.js";
export { readTask, reportTaskLosses as loseTask, shownParts, stateOf } from "./codec/task.js";
