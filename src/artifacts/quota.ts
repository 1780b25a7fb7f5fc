import { AgentError } from "../envelope/index.js";
import type { ArtifactLimits } from "./store.js";

/** The room one artifact takes while it is written and after. */
export interface Room {
  /** Throws before the limit is passed, not after. */
  grow(bytes: number): void;
  /** Gives the room back; a second time does nothing. */
  free(): void;
}

/** The room of one store. */
export interface Quota {
  /** Throws `overloaded` when the owner has its number. */
  take(owner: string): Room;
  /** Room of an artifact that is already there, whatever the limits say by now. */
  adopt(owner: string, bytes: number): Room;
}

/** Counts what a store holds, per owner and in all. */
export function createQuota(limits: ArtifactLimits): Quota {
  const perOwner = new Map<string, number>();
  let totalBytes = 0;

  function occupy(owner: string, size: number): Room {
    let bytes = size;
    let freed = false;
    totalBytes += size;
    perOwner.set(owner, (perOwner.get(owner) ?? 0) + 1);
    return {
      grow(more) {
        if (bytes + more > limits.artifactBytes)
          throw new AgentError("too_large", `an artifact may have ${limits.artifactBytes} bytes; this one has more`);
        if (totalBytes + more > limits.totalBytes)
          throw new AgentError("overloaded", "the artifact store is full; try again later");
        bytes += more;
        totalBytes += more;
      },
      free() {
        if (freed) return;
        freed = true;
        totalBytes -= bytes;
        const left = (perOwner.get(owner) ?? 1) - 1;
        if (left > 0) perOwner.set(owner, left);
        else perOwner.delete(owner);
      },
    };
  }

  return {
    take(owner) {
      if ((perOwner.get(owner) ?? 0) >= limits.artifactsPerOwner)
        throw new AgentError("overloaded", `one caller may keep ${limits.artifactsPerOwner} artifacts; try again later`);
      return occupy(owner, 0);
    },
    adopt: occupy,
  };
}
