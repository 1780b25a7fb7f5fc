import { AgentError, encodeBase64, type JsonObject, type Maybe } from "../../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { callerError } from "../../host.js";
import type { Host } from "../../protocol.js";
import { grpcErrorOf } from "../errors.js";
import { HEALTH_SERVICE, REFLECTION_BYTES, REFLECTION_SERVICES, SERVICES, type Version } from "../grpc/address.js";
import { decodeMessage } from "../grpc/decode.js";
import { indexDescriptors, type MethodShape, type ProtoFile } from "../grpc/descriptors.js";
import { encodeFrame, FrameReader } from "../grpc/framing.js";
import { methodsOf } from "../grpc/methods.js";
import type { MessageType } from "../grpc/schema.js";
import { SCHEMA_0_3 } from "../grpc/schema-0.3.js";
import { SCHEMA_1_0 } from "../grpc/schema-1.0.js";
import { HEALTH_SCHEMA } from "../grpc/schema-health.js";
import { REFLECTION_SCHEMA } from "../grpc/schema-reflection.js";
import { OK, writeStatus } from "../grpc/status.js";
import { OPERATIONS } from "../operations.js";
import type { A2aSettings } from "../settings.js";
import { GRPC_HEADERS, grpcRefusal, SMALL_MESSAGE } from "./grpc-services.js";

const { ServerReflectionRequest, ServerReflectionResponse } = REFLECTION_SCHEMA;
const METHOD = "ServerReflectionInfo";
const NOT_FOUND = 5;
const INVALID_ARGUMENT = 3;

const unary = (name: string, request: MessageType, response: MessageType): MethodShape => ({
  name,
  request,
  response,
  clientStreaming: false,
  serverStreaming: false,
});

function a2aFile(version: Version, messages: ProtoFile["messages"]): ProtoFile {
  const methods = methodsOf(version).map(({ name, path, request, response }) => ({
    ...unary(path.slice(path.lastIndexOf("/") + 1), request, response),
    serverStreaming: OPERATIONS[name].streaming,
  }));
  return { ...placeOf(SERVICES[version], "a2a.proto"), messages, methods };
}

/** The package and the service in a path, and the file in the folder of the package. */
function placeOf(path: string, file: string): Pick<ProtoFile, "name" | "package" | "service"> {
  const [, inPackage = "", service = ""] = /^\/(.+)\.([^.]+)$/.exec(path) ?? [];
  return { name: `${inPackage.replaceAll(".", "/")}/${file}`, package: inPackage, service };
}

const { HealthCheckRequest, HealthCheckResponse } = HEALTH_SCHEMA;
const descriptors = indexDescriptors([
  a2aFile("1.0", SCHEMA_1_0),
  a2aFile("0.3", SCHEMA_0_3),
  {
    ...placeOf(HEALTH_SERVICE, "health.proto"),
    messages: HEALTH_SCHEMA,
    methods: [
      unary("Check", HealthCheckRequest, HealthCheckResponse),
      { ...unary("Watch", HealthCheckRequest, HealthCheckResponse), serverStreaming: true },
    ],
  },
  ...REFLECTION_SERVICES.map((path) => ({
    ...placeOf(path, "reflection.proto"),
    messages: REFLECTION_SCHEMA,
    methods: [
      { ...unary(METHOD, ServerReflectionRequest, ServerReflectionResponse), clientStreaming: true, serverStreaming: true },
    ],
  })),
]);

/** Server reflection, for callers that may call: each request of the stream is answered in order. */
export async function answerReflection(host: Host, settings: A2aSettings, request: HttpRequest): Promise<HttpResponse> {
  if (!request.path.endsWith(`/${METHOD}`)) return grpcRefusal("UNIMPLEMENTED", `unknown method ${request.path.slice(1, 129)}`);
  try {
    await host.admit(request);
  } catch (thrown) {
    return { status: 200, headers: { ...GRPC_HEADERS, ...statusOf(callerError(host, thrown), settings) }, body: undefined };
  }
  let trailers: { readonly [name: string]: string } = OK;
  async function* answers(): AsyncGenerator<Uint8Array, void, void> {
    const frames = new FrameReader(REFLECTION_BYTES);
    try {
      for await (const piece of request.arriving ?? [request.body]) {
        const received: Uint8Array[] = [];
        frames.push(piece, (message) => received.push(message));
        for (const message of received) yield encodeFrame(ServerReflectionResponse, replyTo(message));
      }
    } catch (thrown) {
      trailers = statusOf(AgentError.from(thrown), settings);
    }
  }
  return { status: 200, headers: GRPC_HEADERS, body: answers(), trailers: () => trailers };
}

function statusOf(error: AgentError, { errorProfile }: A2aSettings): { readonly [name: string]: string } {
  const { status, message } = grpcErrorOf(error, "1.0", errorProfile);
  return writeStatus(status, message, []);
}

function replyTo(message: Uint8Array): JsonObject {
  const originalRequest = decodeMessage(ServerReflectionRequest, message, SMALL_MESSAGE);
  const { host, fileByFilename, fileContainingSymbol, listServices, fileContainingExtension, allExtensionNumbersOfType } =
    originalRequest;
  const reply = (members: JsonObject): JsonObject => ({ validHost: host, originalRequest, ...members });
  if (listServices !== undefined)
    return reply({ listServicesResponse: { service: descriptors.services.map((name) => ({ name })) } });
  if (typeof fileByFilename === "string") return reply(files(descriptors.byFile(fileByFilename), "file", fileByFilename));
  if (typeof fileContainingSymbol === "string")
    return reply(files(descriptors.bySymbol(fileContainingSymbol), "symbol", fileContainingSymbol));
  // The messages are proto3, which has no extensions.
  if (fileContainingExtension !== undefined || allExtensionNumbersOfType !== undefined)
    return reply(problem(NOT_FOUND, "there are no extensions"));
  return reply(problem(INVALID_ARGUMENT, "the request asks for nothing"));
}

function files(found: Maybe<readonly Uint8Array[]>, noun: string, name: string): JsonObject {
  if (found === undefined) return problem(NOT_FOUND, `unknown ${noun} ${name.slice(0, 128)}`);
  return { fileDescriptorResponse: { fileDescriptorProto: found.map(encodeBase64) } };
}

function problem(errorCode: number, errorMessage: string): JsonObject {
  return { errorResponse: { errorCode, errorMessage } };
}
