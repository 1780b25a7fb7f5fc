import { z } from "zod";

const ns = z.number();
const count = z.number().int().nonnegative();
const name = z.string().min(1).max(200);
const hash = z.string().max(128);

/** Messages between agents. They are part of a request, and in no number of the requests themselves. */
export const PEER_EVENTS = {
  /** A message to another agent, as its sender saw it. */
  "peer-request": z.strictObject({
    type: z.literal("peer-request"),
    run: name,
    /** Unique in the run: sender, start of its process, number. */
    id: name,
    /** The request that it belongs to. Absent: none, for example a heartbeat. */
    seq: count.optional(),
    from: name,
    to: name,
    /** `cancelled`: the sender no longer wanted the answer. */
    outcome: z.enum(["answered", "failed", "timeout", "cancelled"]),
    error: z.string().max(500).optional(),
    attempts: count,
    networkErrors: count.min(1).optional(),
    stamps: z.strictObject({
      send: ns,
      encodeStart: ns.optional(),
      write: ns.optional(),
      replyEnd: ns.optional(),
      firstToken: ns.optional(),
      done: ns,
    }),
    payloadBytes: count,
    answerBytes: count,
    payloadHash: hash,
    answerHash: hash.optional(),
  }),
  /** The same message as the other agent saw it; once per time that it arrived. */
  "peer-service": z.strictObject({
    type: z.literal("peer-service"),
    run: name,
    id: name,
    agent: name,
    stamps: z.strictObject({
      received: ns.optional(),
      queueStart: ns.optional(),
      serviceStart: ns,
      firstToken: ns.optional(),
      serviceEnd: ns.optional(),
      replyStart: ns.optional(),
    }),
    payloadHash: hash,
    answerHash: hash.optional(),
  }),
  /** Something that a scenario counts and that no message shows, as an agent saw it. */
  note: z.strictObject({
    type: z.literal("note"),
    run: name,
    agent: name,
    kind: name,
    ns,
    seq: count.optional(),
    /** Another agent that it is about. */
    about: name.optional(),
    values: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  }),
} as const;

export type PeerRequestEvent = z.infer<(typeof PEER_EVENTS)["peer-request"]>;
export type PeerServiceEvent = z.infer<(typeof PEER_EVENTS)["peer-service"]>;
export type NoteEvent = z.infer<(typeof PEER_EVENTS)["note"]>;
