import { compileSchema } from "./schema.js";

/** Package `grpc.health.v1`. */
export const HEALTH_SCHEMA = compileSchema(
  { "HealthCheckResponse.ServingStatus": ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"] },
  {
    HealthCheckRequest: { service: "string 1" },
    HealthCheckResponse: { status: "HealthCheckResponse.ServingStatus 1" },
  },
);
