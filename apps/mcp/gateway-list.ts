import { AgentError, type Credentials } from "../../src/index.js";
import { credentialHeaders } from "../../src/internal.js";
import { LIMITS } from "./limits.js";

/** Path of a gateway's agent list: `{"agents":[{"name":…}]}`. Each agent is at this path plus its name. */
const LIST = "/agents";

/** The URLs of all agents of a gateway. */
export async function listAgents(gateway: string, credentials: Credentials): Promise<readonly string[]> {
  const base = `${gateway.replace(/\/+$/, "")}${LIST}`;
  const names = namesIn(await fetchList(`${base}?limit=${LIMITS.agents}`, credentials));
  if (names === undefined) throw new AgentError("bad_peer", `${base} is not an agent list`);
  return names.slice(0, LIMITS.agents).map((name) => `${base}/${encodeURIComponent(name)}`);
}

async function fetchList(url: string, credentials: Credentials): Promise<unknown> {
  const { Agent, fetch } = await import("undici");
  const { tls } = credentials;
  const dispatcher = new Agent(tls === undefined ? {} : { connect: tls });
  try {
    const response = await fetch(url, {
      dispatcher,
      headers: credentialHeaders(credentials),
      // Credentials are for this host only.
      redirect: "error",
      signal: AbortSignal.timeout(LIMITS.listMs),
    });
    if (response.status === 401 || response.status === 403)
      throw new AgentError("unauthenticated", `${url} requires credentials (HTTP ${response.status})`, {
        status: response.status,
      });
    if (!response.ok)
      throw new AgentError("unavailable", `${url} responded with HTTP ${response.status}`, { status: response.status });
    return parsed(await boundedText(response.body ?? [], url), url);
  } catch (thrown) {
    if (thrown instanceof AgentError) throw thrown;
    throw new AgentError("unavailable", `${url} is unreachable`, { cause: thrown });
  } finally {
    await dispatcher.destroy();
  }
}

async function boundedText(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > LIMITS.listBytes) throw new AgentError("too_large", `${url} responded with more than ${LIMITS.listBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new AgentError("bad_peer", `${url} is not an agent list`, { cause: thrown });
  }
}

/** Empty and dot segments are not names. */
const NO_NAME = /^\.{0,2}$/;

/** Undefined if the body is not a list; entries without a valid name are ignored. */
function namesIn(body: unknown): readonly string[] | undefined {
  if (typeof body !== "object" || body === null || !("agents" in body) || !Array.isArray(body.agents)) return undefined;
  const listed: readonly unknown[] = body.agents;
  return listed.flatMap((agent) =>
    typeof agent === "object" && agent !== null && "name" in agent && typeof agent.name === "string" && !NO_NAME.test(agent.name)
      ? [agent.name]
      : [],
  );
}
