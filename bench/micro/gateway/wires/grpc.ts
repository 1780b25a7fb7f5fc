import { GRPC_HEADERS, GRPC_PATH, grpcRequest } from "../../a2a/grpc-call.js";
import { STREAM_CHUNKS } from "../../a2a/workload.js";
import { cardOf } from "./a2a.js";
import { frame, member, readMember, whole } from "./proto.js";
import type { Answer, Wire } from "./wire.js";

/** A2A 1.0 on gRPC; the numbers are those of `a2a.proto`. */

const STREAM_PATH = "/lf.a2a.v1.A2AService/SendStreamingMessage";
const GRPC_TYPE = "application/grpc+proto";
const [SUBMITTED, WORKING, COMPLETED] = [1, 2, 3];
const NOT_FOUND = 5;
const PREFIX_BYTES = 5;

export const GRPC_1_0: Wire = {
  id: "a2a-1.0-grpc",
  pin: "a2a@1.0/GRPC",
  http: 2,
  send: { path: GRPC_PATH, headers: GRPC_HEADERS, body: grpcRequest() },
  stream: { path: STREAM_PATH, headers: GRPC_HEADERS, body: grpcRequest() },
  documents: ({ 2: port }) => cardOf("GRPC", `http://127.0.0.1:${port}`),
  answer({ path, body, number }) {
    if (path !== GRPC_PATH && path !== STREAM_PATH) return { kind: "grpc-error", status: NOT_FOUND };
    const message = readMember(body.subarray(PREFIX_BYTES), 2) ?? EMPTY;
    const part = readMember(message, 5) ?? EMPTY;
    const names = [`task-${number}`, readMember(message, 2) ?? `context-${number}`] as const;
    return path === GRPC_PATH ? taskOf(names, part) : eventsOf(names, part);
  },
};

const EMPTY = Buffer.alloc(0);
type Names = readonly [taskId: string, contextId: string | Buffer];

/** SendMessageResponse.task (1): id (1), contextId (2), status (3) with its state (1), artifacts (4). */
function taskOf([taskId, contextId]: Names, part: Buffer): Answer {
  const task = [member(1, taskId), member(2, contextId), member(3, whole(1, COMPLETED)), member(4, artifactOf(part))];
  return { kind: "one", contentType: GRPC_TYPE, body: frame(member(1, Buffer.concat(task))) };
}

/** StreamResponse: task (1), statusUpdate (3), artifactUpdate (4) with append (4) and lastChunk (5). */
function eventsOf([taskId, contextId]: Names, part: Buffer): Answer {
  const of = Buffer.concat([member(1, taskId), member(2, contextId)]);
  const event = (kind: number, ...members: readonly Buffer[]) => frame(member(kind, Buffer.concat([of, ...members])));
  const artifact = member(3, artifactOf(part));
  const chunks = Array.from({ length: STREAM_CHUNKS }, (_, index) =>
    event(4, artifact, whole(4, index > 0 ? 1 : 0), whole(5, index === STREAM_CHUNKS - 1 ? 1 : 0)),
  );
  const events = [
    event(1, member(3, whole(1, SUBMITTED))),
    event(3, member(3, whole(1, WORKING))),
    ...chunks,
    event(3, member(3, whole(1, COMPLETED))),
  ];
  return { kind: "events", contentType: GRPC_TYPE, events };
}

/** Artifact: its id (1) and one part (4), as it came. */
function artifactOf(part: Buffer): Buffer {
  return Buffer.concat([member(1, "result"), member(4, part)]);
}
