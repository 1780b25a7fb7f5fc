import { z } from "zod";
import { isLoopbackHost } from "./addresses.js";
import { SECRET, TEXT, URL_TEXT } from "./config-values.js";

/** Where callers' tokens are exchanged (RFC 8693). */
const EXCHANGE = z
  .strictObject({
    tokenUrl: URL_TEXT.describe("The token endpoint: https, or plain http on this machine."),
    clientId: TEXT.optional().describe("How the gateway proves who it is, with clientSecret."),
    clientSecret: SECRET.optional(),
    audience: TEXT.optional().describe("For whom the new token is meant: a name."),
    resource: TEXT.optional().describe("For whom the new token is meant: an address."),
    scopes: z.array(TEXT).optional(),
  })
  .superRefine(({ tokenUrl, clientId, clientSecret }, context) => {
    const complain = (member: string, message: string): void => context.addIssue({ code: "custom", path: [member], message });
    if (clientId !== undefined && clientSecret === undefined) complain("clientId", "stands without a clientSecret");
    if (clientId === undefined && clientSecret !== undefined) complain("clientSecret", "stands without a clientId");
    if (isClearText(tokenUrl)) complain("tokenUrl", "is clear text: callers' tokens are sent by https only");
  });

function isClearText(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !isLoopbackHost(hostname);
}

/** Whose credential an agent sees. */
export const CALLERS = z
  .union([z.enum(["own", "passthrough"]), z.strictObject({ exchange: EXCHANGE })], {
    error: "must be own, passthrough or { exchange: { tokenUrl: ADDRESS } }",
  })
  .describe(
    "Whose credential the agent sees: the gateway's (own), the caller's bearer token (passthrough, within one trust domain), or one that a service gives out for the caller's (exchange, RFC 8693). Default: own.",
  );

export type CallersDocument = z.infer<typeof CALLERS>;
