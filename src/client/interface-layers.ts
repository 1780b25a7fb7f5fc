import type { Handler, Layer, Maybe } from "../envelope/index.js";
import { type Clock, checkAnswers, deadline, followTasks, resumeStreams, stack } from "../policies/index.js";
import { traitsOf } from "../protocols/traits.js";
import { carryTrace, type Edge, noTelemetry, type Telemetry } from "../telemetry/index.js";
import type { CredentialLinks } from "./credential-link.js";
import type { Candidate } from "./pick-interface.js";
import { repeatClosed } from "./repeat-closed.js";

/** The part of a peer that its layers depend on. */
interface LayeredPeer {
  readonly address: string;
  readonly clock: Clock;
  readonly credentials: Pick<CredentialLinks, "problemWith">;
  readonly options: {
    readonly telemetry?: Telemetry;
    readonly as?: string;
    readonly id?: string;
    readonly layers?: readonly Layer[];
    readonly timeoutMs?: number;
    readonly resume?: boolean;
    readonly random?: () => number;
  };
}

/**
 * Outermost first: outcome reporting, telemetry, policies, deadline, unfinished tasks, stream resumption, answer checks, closed
 * connections, telemetry of each attempt.
 */
export function withLayers(handler: Handler, target: LayeredPeer, candidate: Candidate, learning: Maybe<Layer>): Handler {
  const { address, options, clock } = target;
  const edge = edgeOf(target, candidate);
  const telemetry = options.telemetry ?? noTelemetry;
  const canResume = () => candidate.peer.card.capabilities.resume;
  const traits = traitsOf(candidate.protocol, candidate.peer.version, candidate.peer.binding);
  const canStream = () => traits.streaming && candidate.peer.card.capabilities.streaming;
  const limit = options.timeoutMs === undefined ? undefined : deadline(options.timeoutMs, clock);
  const layers = [
    learning,
    telemetry.client(edge, address),
    carryTrace,
    ...(options.layers ?? []),
    limit,
    traits.tasks ? followTasks({ canStream, clock }) : undefined,
    options.resume === false ? undefined : resumeStreams({ canResume, clock, random: options.random ?? Math.random }),
    checkAnswers(),
    repeatClosed(() => candidate.peer.card.capabilities.idempotentSend),
    telemetry.wire(edge, { protocol: candidate.protocol.id, version: candidate.peer.version, binding: candidate.peer.binding }),
  ];
  return stack(layers)(rejectUnsatisfied(handler, target, candidate));
}

/** Labels are configured names only: a peer controls the name on its card. */
export function edgeOf({ options }: LayeredPeer, { protocol }: Candidate): Edge {
  return { srcAgent: options.as ?? "other", dstId: options.id ?? "other", protocol: protocol.id };
}

/** Rejects calls whose card requirements the credentials cannot satisfy, before anything is sent. The public card needs none. */
function rejectUnsatisfied(handler: Handler, { credentials }: LayeredPeer, { peer }: Candidate): Handler {
  const problem = credentials.problemWith(peer.card);
  if (problem === undefined) return handler;
  return (operation, call) =>
    operation.kind === "card" && !operation.extended ? handler(operation, call) : Promise.reject(problem);
}
