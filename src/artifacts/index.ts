/** Large content by reference: stored, served by link, fetched on demand. */
export { openDiskArtifacts } from "./disk-store.js";
export { DEFAULT_FETCH_LIMITS, type FetchLimits, type FetchOptions, fetchPart, readUrlPart, restoredPart } from "./incoming.js";
export { ARTIFACT_PATH, type ArtifactLinks, createArtifactLinks, type Grant, type LinkOptions } from "./links.js";
export { createMemoryArtifacts } from "./memory-store.js";
export { openRedisArtifacts, type RedisArtifactOptions } from "./open-redis.js";
export { type MovedContent, type MoveOptions, moveLargeParts } from "./outgoing.js";
export { readReference, writeReference } from "./reference.js";
export { type ArtifactServerOptions, artifactExchange } from "./serve.js";
export {
  type ArtifactContent,
  type ArtifactFacts,
  type ArtifactInfo,
  type ArtifactLimits,
  type ArtifactStore,
  type ByteRange,
  DEFAULT_ARTIFACT_LIMITS,
  type IsReferred,
  type StoreOptions,
  type UploadFacts,
  type UploadState,
} from "./store.js";
export { findUploads, type UploadContext, type UploadOffer, type UploadSource, uploadPart } from "./upload.js";
export { UPLOAD_PATH, uploadExchange } from "./uploads.js";
