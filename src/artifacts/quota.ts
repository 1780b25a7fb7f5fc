import { AgentError } from "../envelope/index.js";
import type { ArtifactLimits } from "./store.js";

/** The space reserved for one artifact, during and after writing. */
export interface Reservation {
  /** Throws before the limit is exceeded. */
  grow(bytes: number): void;
  /** Releases the space; idempotent. */
  free(): void;
}

/** The space accounting of one store. */
export interface Quota {
  /** Throws `overloaded` if the owner has the maximum number of artifacts. */
  reserve(owner: string): Reservation;
  /** Accounts for an existing artifact, regardless of the limits. */
  adopt(owner: string, bytes: number): Reservation;
}

/** Tracks the space used per owner and in total. */
export function createQuota(limits: ArtifactLimits): Quota {
  const perOwner = new Map<string, number>();
  let totalBytes = 0;

  function occupy(owner: string, size: number): Reservation {
    let bytes = size;
    let freed = false;
    totalBytes += size;
    perOwner.set(owner, (perOwner.get(owner) ?? 0) + 1);
    return {
      grow(more) {
        if (bytes + more > limits.artifactBytes)
          throw new AgentError("too_large", `the artifact exceeds the limit of ${limits.artifactBytes} bytes`);
        if (totalBytes + more > limits.totalBytes)
          throw new AgentError("overloaded", "the artifact store is full; try again later");
        bytes += more;
        totalBytes += more;
      },
      free() {
        if (freed) return;
        freed = true;
        totalBytes -= bytes;
        const remaining = (perOwner.get(owner) ?? 1) - 1;
        if (remaining > 0) perOwner.set(owner, remaining);
        else perOwner.delete(owner);
      },
    };
  }

  return {
    reserve(owner) {
      if ((perOwner.get(owner) ?? 0) >= limits.artifactsPerOwner)
        throw new AgentError(
          "overloaded",
          `the limit of ${limits.artifactsPerOwner} artifacts per caller is reached; try again later`,
        );
      return occupy(owner, 0);
    },
    adopt: occupy,
  };
}
