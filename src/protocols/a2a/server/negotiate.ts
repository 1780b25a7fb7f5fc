import { AgentError, type Maybe } from "../../../envelope/index.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import type { Dialect } from "../dialect.js";

/** A2A 1.0 §3.6: the header counts, then the query parameter; only major and minor are compared. Empty is absent. */
export function requestedVersion(request: HttpRequest): Maybe<string> {
  const header = request.headers["a2a-version"];
  if (header !== undefined && header !== "") return majorMinor(header);
  if (request.query === "" || !/(?:^|&)a2a-version=/i.test(request.query)) return undefined;
  const value = /(?:^|&)a2a-version=([^&]*)/i.exec(request.query)?.[1] ?? "";
  return value === "" ? undefined : majorMinor(decoded(value));
}

/** What cannot be decoded names no version; it is refused as the one it looks like. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function majorMinor(version: string): string {
  if (version === "1.0" || version === "0.3") return version;
  return /^(\d+\.\d+)(\.\d+)?$/.exec(version.trim())?.[1] ?? version;
}

/**
 * Header and grammar must agree; without a header the grammar decides. Answering one grammar under the other's version
 * would give the caller shapes it did not ask for.
 */
export function checkVersion(request: HttpRequest, spoken: Dialect["version"]): void {
  const asked = requestedVersion(request);
  if (asked !== undefined && asked !== spoken) throw versionNotSupported(asked);
}

export function versionNotSupported(asked: string): AgentError {
  return new AgentError("unsupported_version", `A2A ${asked.slice(0, 32)} is not spoken at this address; 1.0 and 0.3 are`, {
    detail: { requested: asked.slice(0, 32), supported: "1.0, 0.3" },
  });
}
