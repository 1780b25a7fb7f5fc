import { CallSlot } from "../../../envelope/index.js";
import type { SageSession } from "./session.js";

/** On a call: the session that it is sent in. If that one has ended, the call fails: it is not sent in another one. */
export const callSessions = new CallSlot<SageSession>();

/** On a call: makes a session before anything is sent, and reports it. */
export const sessionReceivers = new CallSlot<(session: SageSession) => void>();
