import { LegacyA2AService } from "@a2a-js/sdk/compat/v0_3/server/grpc";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";

/** gRPC without Koine's code: the official library is the transport, and the official SDK writes and reads the messages. */
export interface GrpcAnswer {
  readonly message: unknown;
  readonly error: ServiceError | undefined;
  /** What the server said first. */
  readonly metadata: Metadata | undefined;
}

type Call = {
  readonly path: string;
  readonly requestSerialize: (value: never) => Buffer;
  readonly responseDeserialize: (value: Buffer) => unknown;
};

export interface AskOptions {
  readonly headers?: { readonly [name: string]: string };
  readonly timeoutMs?: number;
}

/** One unary call. `message` is what the SDK made of the answer. */
export async function askGrpc(address: string, call: Call, request: unknown, options: AskOptions = {}): Promise<GrpcAnswer> {
  const client = new Client(address, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(options.headers ?? {})) metadata.set(name, value);
  const callOptions = options.timeoutMs === undefined ? {} : { deadline: Date.now() + options.timeoutMs };
  try {
    return await new Promise((resolve) => {
      let heard: Metadata | undefined;
      const answered = (error: ServiceError | null, message?: unknown): void =>
        resolve({ message, error: error ?? undefined, metadata: heard });
      client
        // The SDK's own writer takes what its own types describe; each caller hands it one of those.
        .makeUnaryRequest(
          call.path,
          call.requestSerialize as (value: unknown) => Buffer,
          call.responseDeserialize,
          request,
          metadata,
          callOptions,
          answered,
        )
        .on("metadata", (first) => {
          heard = first;
        });
    });
  } finally {
    client.close();
  }
}

/** The send of each version, and the text of its answer. */
export const GRPC_SENDS: {
  readonly [version: string]: { send(address: string, said: string): Promise<GrpcAnswer>; text(message: unknown): unknown };
} = {
  "1.0": {
    send: (address, said) => askGrpc(address, A2AService.sendMessage, sendRequest(said)),
    text: (message) => partsOf(message, "parts")[0]?.content?.value,
  },
  "0.3": {
    send: (address, said) => askGrpc(address, LegacyA2AService.sendMessage, legacySendRequest(said)),
    text: (message) => partsOf(message, "content")[0]?.part?.value,
  },
};

const words = { contextId: "", taskId: "", role: 1, metadata: undefined, extensions: [] };

/** A SendMessageRequest of 1.0 with one text part, as the SDK's own types have it. */
export function sendRequest(said: string): object {
  const part = { content: { $case: "text", value: said }, metadata: undefined, filename: "", mediaType: "" };
  const message = { ...words, messageId: crypto.randomUUID(), parts: [part], referenceTaskIds: [] };
  return { tenant: "", message, configuration: undefined, metadata: undefined };
}

function legacySendRequest(said: string): object {
  const request = { ...words, messageId: crypto.randomUUID(), content: [{ part: { $case: "text", value: said } }] };
  return { request, configuration: undefined, metadata: undefined };
}

type Parts = { readonly content?: { readonly value: unknown }; readonly part?: { readonly value: unknown } }[];

function partsOf(message: unknown, member: "parts" | "content"): Parts {
  // What is read here is compared with a literal.
  return (
    (message as { payload?: { value?: { [name in "parts" | "content"]?: Parts } } } | undefined)?.payload?.value?.[member] ?? []
  );
}
