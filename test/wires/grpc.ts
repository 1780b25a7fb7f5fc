import { LegacyA2AService } from "@a2a-js/sdk/compat/v0_3/server/grpc";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";

/** gRPC without Koine's code: the official library is the transport, and the official SDK writes and reads the messages. */
export interface GrpcAnswer {
  readonly message: unknown;
  readonly error: ServiceError | undefined;
  /** The first metadata of the server. */
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

/** One unary call. `message` is the answer as decoded by the SDK. */
export async function askGrpc(address: string, call: Call, request: unknown, options: AskOptions = {}): Promise<GrpcAnswer> {
  const client = new Client(address, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(options.headers ?? {})) metadata.set(name, value);
  const callOptions = options.timeoutMs === undefined ? {} : { deadline: Date.now() + options.timeoutMs };
  try {
    return await new Promise((resolve) => {
      let initial: Metadata | undefined;
      const answered = (error: ServiceError | null, message?: unknown): void =>
        resolve({ message, error: error ?? undefined, metadata: initial });
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
          initial = first;
        });
    });
  } finally {
    client.close();
  }
}

/** The send of each version, and the text of its answer. */
export const GRPC_SENDS: {
  readonly [version: string]: {
    send(address: string, input: string, tenant?: string): Promise<GrpcAnswer>;
    text(message: unknown): unknown;
  };
} = {
  "1.0": {
    send: (address, input, tenant) => askGrpc(address, A2AService.sendMessage, { ...sendRequest(input), tenant: tenant ?? "" }),
    text: (message) => partsOf(message, "parts")[0]?.content?.value,
  },
  "0.3": {
    send: (address, input) => askGrpc(address, LegacyA2AService.sendMessage, legacySendRequest(input)),
    text: (message) => partsOf(message, "content")[0]?.part?.value,
  },
};

const words = { contextId: "", taskId: "", role: 1, metadata: undefined, extensions: [] };

/** A SendMessageRequest of 1.0 with one text part, as the SDK's own types have it. */
export function sendRequest(input: string): object {
  const part = { content: { $case: "text", value: input }, metadata: undefined, filename: "", mediaType: "" };
  const message = { ...words, messageId: crypto.randomUUID(), parts: [part], referenceTaskIds: [] };
  return { tenant: "", message, configuration: undefined, metadata: undefined };
}

function legacySendRequest(input: string): object {
  const request = { ...words, messageId: crypto.randomUUID(), content: [{ part: { $case: "text", value: input } }] };
  return { request, configuration: undefined, metadata: undefined };
}

type Parts = { readonly content?: { readonly value: unknown }; readonly part?: { readonly value: unknown } }[];

function partsOf(message: unknown, member: "parts" | "content"): Parts {
  // compared with a literal
  return (
    (message as { payload?: { value?: { [name in "parts" | "content"]?: Parts } } } | undefined)?.payload?.value?.[member] ?? []
  );
}
