import { AgentError, subjectOf } from "../envelope/index.js";
import type { ArtifactRecord } from "./backend.js";
import type { ArtifactLimits } from "./store.js";

/** What a full store says, by the limit that was reached. */
export type FullReason = "artifact" | "count" | "uploads" | "owner" | "total";

/** The refusal of what would exceed a limit. */
export function fullError(reason: FullReason, limits: ArtifactLimits): AgentError {
  switch (reason) {
    case "artifact":
      return new AgentError("too_large", `the artifact exceeds the limit of ${limits.artifactBytes} bytes (artifactBytes)`);
    case "count":
      return overloaded(`the limit of ${limits.artifactsPerOwner} artifacts per caller (artifactsPerOwner) is reached`);
    case "uploads":
      return overloaded(`the limit of ${limits.uploadsPerOwner} uploads in progress per caller (uploadsPerOwner) is reached`);
    case "owner":
      return overloaded(`the artifacts of one caller may take ${limits.bytesPerOwner} bytes (bytesPerOwner)`);
    case "total":
      return overloaded("the artifact store is full (totalBytes)");
    default:
      return reason satisfies never;
  }
}

function overloaded(what: string): AgentError {
  return new AgentError("overloaded", `${what}; try again later`);
}

interface Share {
  artifacts: number;
  uploads: number;
  bytes: number;
}

/** The space used by each caller, over all its tenants, and in total: for stores that only this process counts. */
export class Usage {
  readonly #limits: ArtifactLimits;
  readonly #shares = new Map<string, Share>();
  #total = 0;

  constructor(limits: ArtifactLimits) {
    this.#limits = limits;
  }

  /** Throws if a new record exceeds a limit. */
  check(record: ArtifactRecord): void {
    const { artifactsPerOwner, uploadsPerOwner } = this.#limits;
    const share = this.#shares.get(subjectOf(record.owner));
    if (share !== undefined && share.artifacts >= artifactsPerOwner) throw fullError("count", this.#limits);
    if (isUpload(record) && share !== undefined && share.uploads >= uploadsPerOwner) throw fullError("uploads", this.#limits);
    this.checkGrowth({ ...record, bytes: 0 }, record.bytes);
  }

  /** Throws if so many bytes more exceed a limit. */
  checkGrowth({ owner, bytes }: Pick<ArtifactRecord, "owner" | "bytes">, more: number): void {
    const { artifactBytes, bytesPerOwner, totalBytes } = this.#limits;
    if (bytes + more > artifactBytes) throw fullError("artifact", this.#limits);
    if ((this.#shares.get(subjectOf(owner))?.bytes ?? 0) + more > bytesPerOwner) throw fullError("owner", this.#limits);
    if (this.#total + more > totalBytes) throw fullError("total", this.#limits);
  }

  add(record: ArtifactRecord): void {
    this.#count(record, 1);
  }

  remove(record: ArtifactRecord): void {
    this.#count(record, -1);
  }

  #count(record: ArtifactRecord, sign: 1 | -1): void {
    const subject = subjectOf(record.owner);
    const share = this.#shares.get(subject) ?? { artifacts: 0, uploads: 0, bytes: 0 };
    share.artifacts += sign;
    share.bytes += sign * record.bytes;
    if (isUpload(record)) share.uploads += sign;
    this.#total += sign * record.bytes;
    if (share.artifacts > 0) this.#shares.set(subject, share);
    else this.#shares.delete(subject);
  }
}

/** Announced by its caller, and not finished. */
export function isUpload({ complete, sha256 }: ArtifactRecord): boolean {
  return !complete && sha256 !== undefined;
}
