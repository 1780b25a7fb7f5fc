import { z } from "zod";
import { isLoopbackHost } from "./addresses.js";
import { SECRET, TEXT, URL_TEXT } from "./config-values.js";

/** Token exchange for callers' tokens (RFC 8693). */
const EXCHANGE = z
  .strictObject({
    tokenUrl: URL_TEXT.describe("The token endpoint: https, or http on loopback."),
    clientId: TEXT.optional().describe("Client id of the gateway, used with clientSecret."),
    clientSecret: SECRET.optional(),
    audience: TEXT.optional().describe("Audience of the new token: a logical name."),
    resource: TEXT.optional().describe("Audience of the new token: a URI."),
    scopes: z.array(TEXT).optional(),
  })
  .superRefine(({ tokenUrl, clientId, clientSecret }, context) => {
    const report = (member: string, message: string): void => context.addIssue({ code: "custom", path: [member], message });
    if (clientId !== undefined && clientSecret === undefined) report("clientId", "requires clientSecret");
    if (clientId === undefined && clientSecret !== undefined) report("clientSecret", "requires clientId");
    if (isClearText(tokenUrl)) report("tokenUrl", "must use https: callers' tokens are not sent in clear text");
  });

function isClearText(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !isLoopbackHost(hostname);
}

/** Which credential is sent to an agent. */
export const CALLERS = z
  .union([z.enum(["own", "passthrough"]), z.strictObject({ exchange: EXCHANGE })], {
    error: "must be own, passthrough or { exchange: { tokenUrl: URL } }",
  })
  .describe(
    "Which credential is sent to the agent: the gateway's (own), the caller's bearer token (passthrough, within one trust domain), or a token exchanged for the caller's (exchange, RFC 8693). Default: own.",
  );

export type CallersDocument = z.infer<typeof CALLERS>;
