/** The records of sealed sessions: authenticated encryption with a key for each direction, in order or within a window, once each. */

export { expand, extract, sessionSecret } from "./key-schedule.js";
export { RecordError, type RecordProblem } from "./record-error.js";
export { type RecordCipher, type RecordProfile, SEALED_RECORDS } from "./record-profile.js";
export { type ChannelStart, SealedChannel } from "./sealed-channel.js";
