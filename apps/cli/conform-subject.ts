import type { Subject } from "../../conformance/index.js";
import { AgentError, type Credentials, connect } from "../../src/index.js";
import { credentialHeaders } from "../../src/internal.js";
import { type Protocol, protocols } from "../../src/public/protocols.js";
import { type CredentialOptions, credentialsOf } from "./credentials.js";
import { usageError } from "./exit.js";
import { type IdentityCredentialOptions, identityCredentials } from "./identity-credentials.js";

/** The checks write every request themselves, so what needs the card to be placed, or a token to be fetched, is not for them. */
export async function shownBy(options: CredentialOptions & IdentityCredentialOptions): Promise<Credentials> {
  if (options.apiKeyEnv !== undefined || options.clientId !== undefined)
    throw usageError(
      "the checks are made with a token, headers or a certificate",
      "Give --token-env, --header, or --cert and --key.",
    );
  const { tls } = await identityCredentials(options);
  return { ...credentialsOf(options), ...(tls === undefined ? {} : { tls }) };
}

/** What is checked, and how it is reached. */
export async function subjectAt(address: string, credentials: Credentials): Promise<Subject> {
  const { secureExchange } = await import("../../conformance/index.js");
  return {
    url: address.replace(/\/$/, ""),
    exchange: secureExchange(credentials.tls ?? {}),
    headers: credentialHeaders(credentials),
    newId: () => crypto.randomUUID(),
  };
}

/** The protocols to check: those somebody speaks there, or the one that was named. Nobody there at all is another matter. */
export async function spokenAt(url: string, wanted: string | undefined, credentials: Credentials): Promise<readonly Protocol[]> {
  const named = protocols.filter(({ id }) => id === wanted);
  if (wanted !== undefined && named.length === 0)
    throw usageError(`no protocol is called ${wanted}`, `There are: ${protocols.map(({ id }) => id).join(", ")}`);
  const spoken: Protocol[] = [];
  let refusal: unknown;
  for (const protocol of wanted === undefined ? protocols : named) {
    try {
      const peer = await connect(url, { protocols: [protocol], credentials, as: "koine" });
      spoken.push(protocol);
      await peer.close();
    } catch (thrown) {
      refusal = thrown;
    }
  }
  if (spoken.length > 0) return spoken;
  const silent = refusal instanceof AgentError && (refusal.code === "unavailable" || refusal.code === "deadline");
  if (named.length === 0 || silent) throw refusal;
  return named;
}
