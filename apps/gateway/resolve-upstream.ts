import type { ConnectOptions, UpstreamCredentials } from "../../src/index.js";
import { connectRewriting, type RelayableAgent, type SharedCallers, sharingCallers } from "../../src/internal.js";

/** A connected upstream, and which caller credentials it receives. */
export interface ResolvedUpstream {
  readonly remote: RelayableAgent;
  readonly callers: Pick<SharedCallers, "sendsCredentialsOn" | "notes">;
}

/** Connects with the configured credential mode. Rejects an upstream whose card requires credentials that are not available. */
export async function resolveUpstream(
  url: string,
  options: Omit<ConnectOptions, "link">,
  upstreamCredentials: UpstreamCredentials,
): Promise<ResolvedUpstream> {
  const callers = sharingCallers(url, { ...options, as: "gateway" }, { upstreamCredentials });
  const remote = await connectRewriting(url, callers.options, undefined).catch(async (thrown: unknown) => {
    await callers.options.link?.close();
    throw thrown;
  });
  try {
    callers.check(remote.card);
    return { remote, callers };
  } catch (thrown) {
    await remote.close();
    throw thrown;
  }
}
