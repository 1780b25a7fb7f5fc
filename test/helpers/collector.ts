import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

/**
 * An OTLP/HTTP collector. It accepts only what the specification allows in JSON: the names of
 * `opentelemetry/proto/collector/trace/v1` in lowerCamelCase, ids as hex, 64-bit numbers as decimal strings, enums as numbers.
 */

const HEX = (digits: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`));
const FIXED64 = z.string().regex(/^\d{19}$/); // nanoseconds of this century
const COUNT = z.int().min(0).optional();
const VALUE = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"])]) }),
  z.strictObject({ arrayValue: z.strictObject({ values: z.array(z.unknown()) }) }),
]);
const ATTRIBUTES = z.array(z.strictObject({ key: z.string().min(1), value: VALUE })).optional();
const SPAN = z.strictObject({
  traceId: HEX(32),
  spanId: HEX(16),
  traceState: z.string().optional(),
  parentSpanId: HEX(16).optional(),
  flags: z.int().min(0).max(0xffffffff).optional(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: FIXED64,
  endTimeUnixNano: FIXED64,
  attributes: ATTRIBUTES,
  droppedAttributesCount: COUNT,
  events: z
    .array(z.strictObject({ timeUnixNano: FIXED64, name: z.string(), attributes: ATTRIBUTES, droppedAttributesCount: COUNT }))
    .optional(),
  droppedEventsCount: COUNT,
  links: z.array(z.strictObject({ traceId: HEX(32), spanId: HEX(16), attributes: ATTRIBUTES })).optional(),
  droppedLinksCount: COUNT,
  status: z.strictObject({ code: z.int().min(0).max(2), message: z.string().optional() }).optional(),
});
const REQUEST = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: ATTRIBUTES }),
      scopeSpans: z.array(z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(SPAN) })),
    }),
  ),
});

export type CollectedSpan = z.infer<typeof SPAN> & { readonly service: string };

export interface Received {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Collector {
  readonly url: string;
  readonly requests: readonly Received[];
  /** Of all requests that were answered with 200. */
  readonly spans: readonly CollectedSpan[];
  close(): Promise<void>;
}

/** The answer to a request; undefined: none, the connection stays open. */
export interface Answer {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
}

export async function openCollector(answer: (index: number) => Answer | undefined = () => ({ status: 200 })): Promise<Collector> {
  const requests: Received[] = [];
  const spans: CollectedSpan[] = [];
  const server = createServer(async (req, res) => {
    let body = "";
    for await (const chunk of req) body += chunk;
    const wanted = answer(requests.length);
    requests.push({ url: req.url ?? "", headers: req.headers, body });
    if (wanted === undefined) return;
    const valid = REQUEST.safeParse(JSON.parse(body));
    if (valid.success && wanted.status === 200) spans.push(...spansOf(valid.data));
    res.writeHead(valid.success ? wanted.status : 400, { "content-type": "application/json", ...wanted.headers });
    res.end(wanted.body ?? (valid.success ? "{}" : valid.error.message));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // bound to TCP
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    spans,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function spansOf({ resourceSpans }: z.infer<typeof REQUEST>): readonly CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = attributeOf(resource.attributes, "service.name") ?? "";
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })));
  });
}

/** The text of an attribute. */
export function attributeOf(attributes: CollectedSpan["attributes"], name: string): string | undefined {
  const value = attributes?.find(({ key }) => key === name)?.value;
  return value !== undefined && "stringValue" in value ? value.stringValue : undefined;
}
