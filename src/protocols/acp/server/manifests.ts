import { isObject, type Json, type JsonObject } from "../../../envelope/index.js";
import { readQuery } from "../../../transport/address-parts.js";
import type { HttpResponse } from "../../../transport/exchange.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { documentResponse } from "../../document.js";
import { encodeManifest } from "../codec.js";
import type { WireManifest } from "../wire.js";
import { agentNamed, defaultAgent } from "./agents.js";
import type { RequestContext } from "./request-context.js";

/** The limit of the OpenAPI document, whose default is 10. The SDK returns all agents by default, and so does this server. */
const MOST_PER_PAGE = 1_000;

/** `GET /agents`. */
export function listAgents({ host, request }: RequestContext): HttpResponse {
  const query = readQuery(request.query);
  const cards = host.cards();
  const limit = wholeNumber(query.get("limit"), "limit", 1, MOST_PER_PAGE) ?? cards.length;
  const offset = wholeNumber(query.get("offset"), "offset", 0, Number.MAX_SAFE_INTEGER) ?? 0;
  const agents = cards.slice(offset, offset + limit).map((card) => asJson(encodeManifest(card)));
  return documentResponse(request, { agents }, "");
}

/** `GET /agents/{name}`. */
export function showAgent({ host, request }: RequestContext, name: string): HttpResponse {
  return documentResponse(request, asJson(encodeManifest(agentNamed(host, name))), "");
}

/** `GET /.well-known/agent.yml`: discovery as documented. The format holds one agent and no address. */
export function showDiscovery({ host }: RequestContext): HttpResponse {
  const headers = { "content-type": "application/yaml", "cache-control": "max-age=60" };
  return { status: 200, headers, body: formatYaml(asJson(encodeManifest(defaultAgent(host)))) };
}

function asJson(manifest: WireManifest): JsonObject {
  return { ...manifest };
}

function wholeNumber(value: string | undefined, name: string, least: number, most: number): number | undefined {
  if (value === undefined) return undefined;
  const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new DecodeProblem(name, `must be a whole number from ${least} to ${most}`);
}

/** A JSON object as YAML in block style. Every string is quoted as in JSON, which YAML 1.2 reads the same. */
export function formatYaml(value: JsonObject): string {
  return `${block(value, "").trimStart()}\n`;
}

/** The value of a key or list item: a scalar on the same line, or a nested block. */
function block(value: Json, indent: string): string {
  const lines = isObject(value)
    ? Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${block(member ?? null, `${indent}  `)}`)
    : Array.isArray(value)
      ? value.map((item: Json) => `-${block(item, `${indent}  `)}`)
      : [];
  if (lines.length === 0) return ` ${JSON.stringify(value)}`;
  return lines.map((line) => `\n${indent}${line}`).join("");
}
