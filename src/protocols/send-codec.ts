import type { OperationOf } from "../envelope/index.js";

/** Encodes a send operation as text, and decodes it. */
export interface SendCodec {
  /** The JSON text of a send operation, with everything the protocol carries. */
  write(send: OperationOf<"send">): string;
  /** Members absent from the text are empty. Throws AgentError. */
  read(text: string): OperationOf<"send">;
}
