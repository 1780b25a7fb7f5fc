import { describe, expect, test } from "vitest";
import { isTracingWanted, readTracing } from "./settings.js";

/** Variables and their defaults: OpenTelemetry specification, "SDK environment variables" and "OTLP exporter". */

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

describe("readTracing()", () => {
  test("the defaults of the specification", () => {
    const { sampler, ...settings } = readTracing({}, {});
    expect(settings).toEqual({
      url: "http://localhost:4318/v1/traces",
      headers: {},
      resource: { "service.name": "koine", "telemetry.sdk.name": "koine", "telemetry.sdk.language": "nodejs" },
      timeoutMs: 10_000,
      batch: { delayMs: 5_000, exportMs: 30_000, queueSpans: 2_048, batchSpans: 512 },
      warnings: [],
    });
    expect([sampler("0".repeat(32), undefined), sampler("0".repeat(32), { sampled: false })]).toEqual([true, false]);
  });

  test.each([
    [{}, { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://traces/in" }, "https://traces/in"],
    [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector/base/" }, "https://collector/base/v1/traces"],
    [
      { endpoint: "http://own:1" },
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://traces/in" },
      "http://own:1/v1/traces",
    ],
  ])("the endpoint of %j and %j", (request, env, url) => {
    expect(readTracing(request, env).url).toBe(url);
  });

  test.each(["ftp://collector", "collector:4318", "http://ann:secret@collector"])(
    "refuses the endpoint %s and does not show it",
    (endpoint) => {
      const read = (): unknown => readTracing({}, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
      expect(read).toThrow(expect.objectContaining({ code: "invalid_message", message: expect.not.stringContaining("secret") }));
    },
  );

  test("headers and resource attributes are percent-encoded lists; those for traces win", () => {
    const { headers, resource, warnings } = readTracing(
      { serviceName: "front" },
      {
        OTEL_EXPORTER_OTLP_HEADERS: "Api-Key=a%3Db, x-tenant = blue ,broken,bad%20name=1",
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: "api-key=c",
        OTEL_SERVICE_NAME: "other",
        OTEL_RESOURCE_ATTRIBUTES: "service.name=third,host.name=h%2C1",
      },
    );
    expect(headers).toEqual({ "api-key": "c", "x-tenant": "blue" });
    expect(resource).toMatchObject({ "service.name": "front", "host.name": "h,1" });
    expect(warnings).toEqual([
      "OTEL_EXPORTER_OTLP_HEADERS has a part that is not name=value",
      "OTEL_EXPORTER_OTLP_HEADERS has a field that is not a valid header",
    ]);
  });

  test("values that cannot be used are named, and their defaults used", () => {
    const { batch, timeoutMs, warnings } = readTracing(
      {},
      {
        OTEL_BSP_SCHEDULE_DELAY: "100",
        OTEL_BSP_MAX_QUEUE_SIZE: "10",
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "20",
        OTEL_BSP_EXPORT_TIMEOUT: "-1",
        OTEL_EXPORTER_OTLP_TIMEOUT: "250",
        OTEL_TRACES_SAMPLER: "jaeger_remote",
        OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      },
    );
    expect(batch).toEqual({ delayMs: 100, exportMs: 30_000, queueSpans: 10, batchSpans: 10 });
    expect(timeoutMs).toBe(250);
    expect(warnings).toEqual([
      expect.stringMatching(/^OTEL_TRACES_SAMPLER is not used/),
      expect.stringMatching(/^OTEL_BSP_EXPORT_TIMEOUT is not used/),
      expect.stringMatching(/^OTEL_EXPORTER_OTLP_PROTOCOL is not used/),
    ]);
  });

  test.each([
    ["always_on", undefined, [true, true, true, true]],
    ["always_off", undefined, [false, false, false, false]],
    ["traceidratio", "0.25", [true, false, true, false]],
    ["parentbased_traceidratio", "0.25", [true, false, true, true]],
    ["parentbased_always_off", undefined, [false, false, false, true]],
    ["parentbased_traceidratio", "0", [false, false, false, true]],
  ])("the sampler %s with %s", (name, argument, expected) => {
    const { sampler } = readTracing({}, { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument });
    const low = `${"0".repeat(24)}3fffff00`;
    const high = `${"0".repeat(24)}40000000`;
    const decisions = [sampler(low, undefined), sampler(high, undefined)];
    expect([...decisions, sampler(low, undefined), sampler(high, { sampled: true })]).toEqual(expected);
  });
});

test.each([
  [{}, false],
  [ENDPOINT, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: " " }, false],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://collector/x" }, true],
  [{ ...ENDPOINT, OTEL_SDK_DISABLED: "TRUE" }, false],
  [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" }, false],
  [{ OTEL_SERVICE_NAME: "x", OTEL_EXPORTER_OTLP_HEADERS: "a=b" }, false],
])("the variables %j switch tracing on: %s", (env, wanted) => {
  expect(isTracingWanted(env)).toBe(wanted);
});
