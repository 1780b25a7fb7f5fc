import { compileSchema } from "./schema.js";

/** Packages `grpc.reflection.v1` and `grpc.reflection.v1alpha`, which differ in nothing else. */
export const REFLECTION_SCHEMA = compileSchema(
  {},
  {
    ServerReflectionRequest: {
      host: "string 1",
      fileByFilename: "oneof string 3",
      fileContainingSymbol: "oneof string 4",
      fileContainingExtension: "oneof ExtensionRequest 5",
      allExtensionNumbersOfType: "oneof string 6",
      listServices: "oneof string 7",
    },
    ExtensionRequest: { containingType: "string 1", extensionNumber: "int32 2" },
    ServerReflectionResponse: {
      validHost: "string 1",
      originalRequest: "ServerReflectionRequest 2",
      fileDescriptorResponse: "oneof FileDescriptorResponse 4",
      allExtensionNumbersResponse: "oneof ExtensionNumberResponse 5",
      listServicesResponse: "oneof ListServiceResponse 6",
      errorResponse: "oneof ErrorResponse 7",
    },
    FileDescriptorResponse: { fileDescriptorProto: "repeated bytes 1" },
    ExtensionNumberResponse: { baseTypeName: "string 1", extensionNumber: "repeated int32 2" },
    ListServiceResponse: { service: "repeated ServiceResponse 1" },
    ServiceResponse: { name: "string 1" },
    ErrorResponse: { errorCode: "int32 1", errorMessage: "string 2" },
  },
);
