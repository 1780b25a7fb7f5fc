import { AgentError, type Maybe } from "../../../envelope/index.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import { filesOf, type LegacyFiles } from "../codec/legacy-files.js";
import type { Dialect } from "../dialect.js";
import type { A2aSettings } from "../settings.js";

/** A2A 1.0 §3.6: the header, then the query parameter; only major and minor are compared. Empty means absent. */
export function requestedVersion(request: HttpRequest): Maybe<string> {
  const header = request.headers["a2a-version"];
  if (header !== undefined && header !== "") return majorMinor(header);
  if (request.query === "" || !/(?:^|&)a2a-version=/i.test(request.query)) return undefined;
  const value = /(?:^|&)a2a-version=([^&]*)/i.exec(request.query)?.[1] ?? "";
  return value === "" ? undefined : majorMinor(decoded(value));
}

/** An invalid encoding is rejected as an unknown version. */
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

/** How files of 0.3 are written for the caller: as configured, else by its software. */
export function filesFor({ headers }: HttpRequest, { legacyFiles }: A2aSettings): LegacyFiles {
  return legacyFiles === "auto" ? filesOf(headers["user-agent"]) : legacyFiles;
}

/**
 * Header and grammar must agree; without a header the grammar decides. A response in another version would have unexpected
 * shapes.
 */
export function checkVersion(request: HttpRequest, version: Dialect["version"]): void {
  const requested = requestedVersion(request);
  if (requested !== undefined && requested !== version) throw versionNotSupported(requested);
}

export function versionNotSupported(requested: string): AgentError {
  return new AgentError("unsupported_version", `A2A ${requested.slice(0, 32)} is not supported at this address; use 1.0 or 0.3`, {
    detail: { requested: requested.slice(0, 32), supported: "1.0, 0.3" },
  });
}
