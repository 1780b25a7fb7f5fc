import { type Call, isObject, type Maybe } from "../../src/envelope/index.js";
import type { DiscoveryContext, Finding } from "../../src/protocols/index.js";
import { responseJson } from "../../src/transport/body.js";
import type { HttpResponse } from "../../src/transport/exchange.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { makeRequest } from "../../src/transport/request.js";

export async function discover({ link }: DiscoveryContext, url: string, call: Call): Promise<Maybe<Finding>> {
  const address = `${new URL(url).origin}/toy`;
  const response = await link.exchange(makeRequest({ method: "GET", url: address, call }));
  if (response.status !== 200) return undefined;
  const document = await readDocument(response);
  if (!isObject(document) || document["toy"] !== 1) return undefined;
  const card = {
    name: String(document["agent"]),
    description: "",
    version: "",
    skills: [],
    inputModes: [],
    outputModes: [],
    capabilities: { streaming: false, push: false, extended: false, idempotentSend: false, resume: false, extensions: [] },
    security: { schemes: {}, anyOf: [] },
    interfaces: [],
  };
  return {
    peers: [{ url: address, card, version: "1", binding: "HTTP" }],
    evidence: [`a toy document at ${address}`],
    proved: true,
  };
}

/** A body that is not JSON belongs to another protocol. */
async function readDocument(response: HttpResponse): Promise<unknown> {
  try {
    return await responseJson(response, DEFAULT_LIMITS);
  } catch {
    return undefined;
  }
}
