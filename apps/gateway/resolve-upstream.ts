import { type ConnectOptions, connect, type RemoteAgent, type UpstreamCredentials } from "../../src/index.js";
import { type SharedCallers, sharingCallers } from "../../src/internal.js";

/** An upstream that was reached, and what it learns of callers. */
export interface ResolvedUpstream {
  readonly remote: RemoteAgent;
  readonly callers: Pick<SharedCallers, "sendsCredentialsOn" | "notes">;
}

/** Connects so that the upstream sees whose credential it shall. One whose card demands what nobody can show is refused. */
export async function resolveUpstream(
  url: string,
  options: Omit<ConnectOptions, "link">,
  upstreamCredentials: UpstreamCredentials,
): Promise<ResolvedUpstream> {
  const callers = sharingCallers(url, { ...options, as: "gateway" }, { upstreamCredentials });
  const remote = await connect(url, callers.options).catch(async (thrown: unknown) => {
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
