import type { NoteEvent, PeerRequestEvent, PeerServiceEvent, ServiceEvent } from "../result/index.js";

/** What an agent process records. */
export type AgentEvent = ServiceEvent | PeerServiceEvent | PeerRequestEvent | NoteEvent;
