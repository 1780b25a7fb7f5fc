import {
  ARTIFACT_PATH,
  type ArtifactInfo,
  type ArtifactLinks,
  type ArtifactStore,
  artifactExchange,
  createArtifactLinks,
  DEFAULT_FETCH_LIMITS,
  type IsReferred,
  moveLargeParts,
  readReference,
  restoredPart,
  UPLOAD_PATH,
  uploadExchange,
  writeReference,
} from "../artifacts/index.js";
import {
  AgentError,
  type Content,
  decodeBase64,
  encodeBase64,
  INLINE_CONTENT_BYTES,
  type Maybe,
  type Part,
  partBytes,
  partsOf,
  type Records,
  recordsBelow,
} from "../envelope/index.js";
import type { ExtraRoute } from "../protocols/front.js";
import { type FetchPart, platformTimers, type ReadPart, type Store } from "../tasks/index.js";
import { ByteCollector } from "../transport/body.js";

/** Where and when large content is stored instead of sent inline. */
export interface LargePartOptions {
  /** Where the content is stored. */
  readonly store: ArtifactStore;
  /** The signing key of links, at least 32 bytes. Default: generated once and kept in the task store, so that replicas share it. */
  readonly secret?: Uint8Array;
  /** Lifetime of a link. Default: that of its artifact. */
  readonly linkMs?: number;
  /** Content of this many bytes or more is sent by reference. Default: 1 MB. */
  readonly inlineBytes?: number;
}

/** What the artifacts of a host depend on. */
export interface LargePartsContext {
  now(): number;
  baseUrl(): string;
  /** The tasks that refer to artifacts, and where the signing key is kept. */
  readonly tasks: Pick<Store, "facts" | "records">;
}

/** For whom content is stored. */
export interface PartsOwner {
  readonly owner: string;
  /** The owner's task, if there is one already. */
  readonly id?: Maybe<string>;
}

/** Moved content, and the artifacts it refers to now. */
export interface Moved {
  readonly content: Content;
  readonly ids: readonly string[];
}

/** How often artifacts are looked at that no task may refer to any more. */
const SWEEP_MS = 60_000;
const SECRET_BYTES = 32;
const SECRET_KEY = "link-secret";

/** The artifacts of a host: the routes that serve them, and how content is moved out of messages. */
export class LargeParts {
  readonly routes: readonly ExtraRoute[];
  /** For callers whose message is too large. */
  readonly howToUpload = `upload large content first, by POST ${UPLOAD_PATH}, and send its reference`;
  /** Stops the removal of expired artifacts. */
  readonly close: () => void;
  readonly #store: ArtifactStore;
  readonly #inlineBytes: number;
  readonly #isReferred: IsReferred;
  readonly #openLinks: () => Promise<ArtifactLinks>;
  #links: Maybe<Promise<ArtifactLinks>>;

  constructor(options: LargePartOptions, { now, baseUrl, tasks }: LargePartsContext) {
    const { store, linkMs, inlineBytes = INLINE_CONTENT_BYTES } = options;
    this.#store = store;
    this.#inlineBytes = inlineBytes;
    this.#openLinks = async () =>
      createArtifactLinks({ secret: options.secret ?? (await keptSecret(tasks.records)), baseUrl, now, linkMs });
    this.#isReferred = async (owner, ids) => {
      for (const id of ids) if ((await tasks.facts(id, owner)) !== undefined) return true;
      return false;
    };
    const serve: ExtraRoute["exchange"] = async (request, { admit }) =>
      artifactExchange({ store, links: await this.#linksNow(), admit, isReferred: this.#isReferred })(request);
    const upload: ExtraRoute["exchange"] = async (request, { admit }) =>
      uploadExchange({ store, links: await this.#linksNow(), admit })(request);
    this.routes = [
      ...["GET", "HEAD"].map((method) => ({ route: { method, path: `${ARTIFACT_PATH}*` }, exchange: serve })),
      ...["GET", "HEAD", "POST"].map((method) => ({ route: { method, path: UPLOAD_PATH }, exchange: upload })),
      { route: { method: "PATCH", path: `${ARTIFACT_PATH}*` }, exchange: upload },
    ];
    // A store that does not answer is asked again the next time.
    this.close = platformTimers.every(SWEEP_MS, () => void store.sweep(this.#isReferred).catch(() => undefined));
  }

  move(content: Content, owner: string): Content | Promise<Content> {
    const moved = this.moveFor(content, { owner });
    return moved instanceof Promise ? moved.then((each) => each.content) : moved.content;
  }

  moveFor(content: Content, { owner, id: task }: PartsOwner): Moved | Promise<Moved> {
    const parts = partsOf(content);
    if (sizeOf(parts) < this.#inlineBytes) return { content, ids: [] };
    return this.#linksNow().then((links) =>
      moveLargeParts(parts, { inlineBytes: this.#inlineBytes, owner, task, artifacts: { store: this.#store, links } }),
    );
  }

  /** The artifact is kept as long as the task. */
  async refer(id: string, task: string): Promise<void> {
    await this.#store.refer(id, task);
  }

  /** The artifact of this owner that a link leads to; undefined for any other link. */
  async ownArtifact(url: string, owner: string): Promise<Maybe<string>> {
    const found = await this.#find(url);
    return found?.owner === owner ? found.id : undefined;
  }

  /** Stores a copy of what another host's reference leads to, piece by piece. */
  async copy(part: Part & { readonly kind: "url" }, chunks: AsyncIterable<Uint8Array>, by: PartsOwner): Promise<[Part, string]> {
    const reference = readReference(part);
    if (reference === undefined) throw new AgentError("internal", "a part without a reference cannot be copied");
    const links = await this.#linksNow();
    const facts = { owner: by.owner, mediaType: part.mediaType, name: part.name, task: by.id };
    const info = await this.#store.put(chunks, facts);
    return [writeReference(part, links.make(info), reference), info.id];
  }

  /** Reads what is stored here from the store, and everything else as `follow` does. */
  fetching(follow: FetchPart): FetchPart {
    return async (part, signal) => {
      const info = part.kind === "url" ? await this.#find(part.url) : undefined;
      if (info === undefined) return follow(part, signal);
      const most = DEFAULT_FETCH_LIMITS.artifactBytes;
      const tooLarge = new AgentError("too_large", `the part has more than ${most} bytes: read it as a stream, with task.read`);
      if (info.bytes > most) throw tooLarge;
      const pieces = new ByteCollector(most);
      for await (const chunk of this.#store.read(info)) if (!pieces.add(chunk)) throw tooLarge;
      return restoredPart(part, pieces.whole(), info.mediaType);
    };
  }

  /** The same as a stream. */
  reading(follow: ReadPart): ReadPart {
    const find = (url: string): Promise<Maybe<ArtifactInfo>> => this.#find(url);
    const store = this.#store;
    return async function* read(part, signal) {
      const info = await find(part.url);
      yield* info === undefined ? follow(part, signal) : store.read(info);
    };
  }

  /** Whatever host the link names: replicas share the key and the store. */
  async #find(url: string): Promise<Maybe<ArtifactInfo>> {
    const at = url.lastIndexOf(ARTIFACT_PATH);
    const query = url.indexOf("?", at);
    if (at === -1 || query === -1) return undefined;
    const id = url.slice(at + ARTIFACT_PATH.length, query);
    const links = await this.#linksNow();
    try {
      const grant = links.check(id, url.slice(query + 1));
      const info = await this.#store.find(id, this.#isReferred);
      return info !== undefined && grant.isFor(info.owner) ? info : undefined;
    } catch (thrown) {
      if (AgentError.from(thrown).code === "not_found") return undefined; // not a link of ours
      throw thrown;
    }
  }

  /** A task store that does not answer is asked again the next time. */
  #linksNow(): Promise<ArtifactLinks> {
    if (this.#links === undefined) {
      this.#links = this.#openLinks();
      this.#links.catch(() => {
        this.#links = undefined;
      });
    }
    return this.#links;
  }
}

function sizeOf(parts: readonly Part[]): number {
  let bytes = 0;
  for (const part of parts) bytes += partBytes(part);
  return bytes;
}

/** The first process of a store makes the key; all others, and later ones, find it. */
async function keptSecret(all: Records): Promise<Uint8Array> {
  const records = recordsBelow(all, "artifacts");
  const made = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const known = await records.add(SECRET_KEY, { secret: encodeBase64(made) });
  if (known === undefined) return made;
  const { secret } = known;
  const found = typeof secret === "string" ? decodeBase64(secret) : undefined;
  if (found?.length !== SECRET_BYTES) throw new AgentError("internal", "the stored key of artifact links is damaged");
  return found;
}
