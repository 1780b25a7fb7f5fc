import { type Envelope, NO_META, textOf, textPart } from "../../src/envelope/index.js";
import type { ToyRequest } from "./wire.js";

export function encodeToy({ content, context }: Envelope): ToyRequest {
  return { say: textOf(content), session: context.sessionId, trace: context.traceId };
}

export interface ToyFacts {
  readonly id: string;
  readonly now: number;
  readonly src: string;
  readonly dst: string;
}

export function decodeToy(
  { say, session, trace }: ToyRequest,
  role: Envelope["role"],
  { id, now, src, dst }: ToyFacts,
): Envelope {
  return {
    id,
    ts: now / 1000,
    src,
    dst,
    intent: "",
    role,
    content: [textPart(say)],
    context: { sessionId: session, traceId: trace },
    meta: NO_META,
  };
}
