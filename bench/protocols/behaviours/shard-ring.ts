import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { Fragment, ShardData } from "../shards/item.js";
import { Journal } from "../shards/journal.js";
import type { Lookup } from "../shards/matcher.js";
import { type Ask, KEPT, MESSAGE, parsed, type RingMessage, SEARCHED, type Search, type Searched } from "../shards/messages.js";
import { PeerHealth } from "../shards/peer-health.js";
import { readShards } from "../shards/read-shards.js";
import { openSearcher, type Searcher } from "../shards/searcher.js";
import type { Behaviour, BehaviourContext, BehaviourFactory, PeerAnswer, ReceivedMessage } from "./behaviour.js";

/** Agents that look at one question; the paper's number of hops. */
const HOP_LIMIT = 8;
const US_PER_NS = 1 / 1_000;

const SOURCE = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("generated"), groups: z.number().int().positive(), seed: z.number() }),
  z.strictObject({ kind: z.literal("file"), path: z.string(), seed: z.number() }),
]);
const DATA = z.strictObject({ source: SOURCE, heartbeatMs: z.number().positive(), deadAfterMs: z.number().positive() });

/** The data of a ring. Throws Error for any other. */
export function shardData(data: unknown): ShardData {
  return DATA.parse(data);
}

/** One agent of a ring that holds a shard of the texts and answers questions together with the others. */
export const shardRing: BehaviourFactory = async (context) => {
  const ring = new RingAgent(context, shardData(context.data));
  // Peers are there only when it starts again.
  if (context.restarts > 0) await ring.connectAhead();
  return ring;
};

class RingAgent implements Behaviour {
  readonly #context: BehaviourContext;
  readonly #data: ShardData;
  readonly #journal: Journal;
  readonly #health: PeerHealth;
  readonly #searcher: Searcher;
  readonly #running = new Map<string, Promise<string>>();
  /** Copies of the shards of neighbours, by their names. */
  readonly #copies = new Map<string, readonly Fragment[]>();
  readonly #recovery: "journal" | "neighbours" | "off";
  #isNew: boolean;

  constructor(context: BehaviourContext, data: ShardData) {
    this.#context = context;
    this.#recovery = context.condition.recovery ?? "journal";
    this.#isNew = context.restarts === 0;
    this.#data = data;
    this.#journal = new Journal(context.stateFolder);
    this.#health = new PeerHealth(context, data);
    this.#searcher = openSearcher(context);
    const { agents, name, restarts } = context;
    if (restarts === 0) this.#journal.keep(readShards(data.source, agents.length).fragmentsOf(agents.indexOf(name)));
    else if (this.#recovery === "journal") this.#restoreFromJournal();
    else if (this.#recovery === "off") this.#restored("none", 0, context.now());
  }

  /**
   * Connects to its neighbours before it listens, so that the first question finds an agent that can pass it on: what a client loads and
   * learns about its peers with the first call is the larger part of the time to the first answer. A silent neighbour is not waited for.
   */
  async connectAhead(): Promise<void> {
    const connected = this.#health.neighbours.map((peer) => this.#context.peers.connect(peer).catch(() => undefined));
    await Promise.race([Promise.all(connected), pause(this.#data.deadAfterMs, undefined, { ref: false })]);
  }

  started(): void {
    this.#context.note("listening");
    this.#health.start();
    const isNew = this.#isNew;
    this.#isNew = false;
    if (!isNew) void this.#rejoin();
    else if (this.#recovery === "neighbours") void this.#copyToNeighbour();
  }

  stopped(): void {
    this.#health.stop();
  }

  async handle({ text, seq, from }: ReceivedMessage, signal: AbortSignal): Promise<string> {
    const message = parsed(MESSAGE, text);
    if (message === undefined) throw new Error("not a message of the ring");
    if (from !== undefined) this.#health.alive(from, message.kind === "join" ? "join" : "message");
    switch (message.kind) {
      case "ask":
        return this.#once(message, seq, signal);
      case "search":
        return JSON.stringify(await this.#search(message, signal));
      case "keep":
        if (from !== undefined) this.#copies.set(from, message.fragments);
        return "kept";
      case "give":
        return JSON.stringify({ fragments: [...(this.#copies.get(from ?? "") ?? [])] } satisfies z.infer<typeof KEPT>);
      case "heartbeat":
      case "join":
        return "here";
    }
  }

  /** The same key gets the same answer, whether it was given already, is being looked for, or was given before a restart. */
  #once(ask: Ask, seq: number | undefined, signal: AbortSignal): Promise<string> {
    const given = this.#journal.answerOf(ask.key);
    const known = given === undefined ? this.#running.get(ask.key) : Promise.resolve(given);
    if (known !== undefined) {
      this.#context.note("repeated", { seq, values: { key: ask.key } });
      return known;
    }
    const running = this.#answer(ask, seq, signal).finally(() => this.#running.delete(ask.key));
    this.#running.set(ask.key, running);
    return running;
  }

  async #answer({ key, group, question }: Ask, seq: number | undefined, signal: AbortSignal): Promise<string> {
    const found = await this.#search({ kind: "search", key, seq, group, question, path: [] }, signal);
    const answer = await this.#searcher.report(question, found, signal);
    this.#journal.answered(key, answer);
    return answer;
  }

  async #search(search: Search, signal: AbortSignal): Promise<Searched> {
    const { name } = this.#context;
    const own = await this.#lookup(search, signal);
    const path = [...search.path, name];
    if (own.found) return { ...own, by: name, hops: path.length };
    if (path.length >= HOP_LIMIT) return { ...own, hops: path.length };
    return (await this.#forward({ ...search, path }, signal)) ?? { ...own, hops: path.length };
  }

  async #lookup({ group, question, seq }: Search, signal: AbortSignal): Promise<Lookup> {
    const fragment = this.#journal.fragmentOf(group);
    if (fragment === undefined) return { found: false, answer: "", confidence: 0 };
    return this.#searcher.lookup({ question, fragment, seq }, signal);
  }

  /** Asks the next agent that is alive, which asks the others. Undefined: there is none. */
  async #forward(search: Search, signal: AbortSignal): Promise<Searched | undefined> {
    const { agents, name } = this.#context;
    const at = agents.indexOf(name);
    for (let step = 1; step < agents.length; step++) {
      const peer = agents[(at + step) % agents.length];
      if (peer === undefined || search.path.includes(peer) || this.#health.isDead(peer)) continue;
      const searched = await this.#ask(peer, search, signal);
      if (searched !== undefined) return searched;
      signal.throwIfAborted();
    }
    return undefined;
  }

  /** Undefined: the peer is gone, or could not answer. */
  async #ask(peer: string, search: Search, signal: AbortSignal): Promise<Searched | undefined> {
    const sent = await this.#sendWatched(peer, search, signal);
    // A connection that the peer closed while it was idle says nothing about the peer: it is asked once more.
    const answer =
      !sent.ok && sent.why === "unreachable" && (await this.#isThere(peer))
        ? await this.#sendWatched(peer, search, signal)
        : sent;
    if (answer.ok) {
      this.#health.alive(peer, "message");
      return parsed(SEARCHED, answer.text);
    }
    if (answer.why === "unreachable") this.#health.dead(peer, "connection");
    else if (answer.why === "timeout") this.#health.dead(peer, "heartbeat");
    return undefined;
  }

  async #sendWatched(peer: string, search: Search, signal: AbortSignal): Promise<PeerAnswer> {
    const watch = this.#health.watch(peer);
    const both = AbortSignal.any([watch.signal, signal]);
    try {
      return await this.#send(peer, search, { seq: search.seq, signal: both });
    } finally {
      watch.end();
    }
  }

  async #isThere(peer: string): Promise<boolean> {
    return (await this.#send(peer, { kind: "heartbeat" })).ok;
  }

  /** The ring itself is the owner of retries: it goes on with the next agent. */
  #send(
    peer: string,
    message: RingMessage,
    more: { readonly seq?: number | undefined; readonly signal?: AbortSignal } = {},
  ): Promise<PeerAnswer> {
    return this.#context.peers.send(peer, JSON.stringify(message), { retries: 0, ...more });
  }

  #restoreFromJournal(): void {
    const from = this.#context.now();
    this.#restored("journal", this.#journal.restore(), from);
  }

  #restored(source: "journal" | "neighbours" | "none", bytes: number, from: number): void {
    const us = (this.#context.now() - from) * US_PER_NS;
    this.#context.note("restored", { values: { source, fragments: this.#journal.fragments.length, bytes, us } });
  }

  /** Gets back what it held, then tells everybody that it is here. */
  async #rejoin(): Promise<void> {
    const { peers, restarts, note } = this.#context;
    if (this.#recovery === "neighbours" && this.#journal.fragments.length === 0) await this.#restoreFromNeighbours();
    const join: RingMessage = { kind: "join", restart: restarts };
    let joined = 0;
    const greet = async (peer: string): Promise<void> => {
      const answer = await this.#send(peer, join);
      if (!answer.ok) return;
      this.#health.alive(peer, "join");
      if (joined++ === 0) note("rejoined", { about: peer });
    };
    const { neighbours } = this.#health;
    // Questions pass through the neighbours: connections to them come first.
    await Promise.all(neighbours.map(greet));
    // The others one by one: each is a connection, and questions would wait for all of them. A silent peer is not waited for.
    for (const peer of peers.names)
      if (!neighbours.includes(peer)) await Promise.race([greet(peer), pause(this.#data.deadAfterMs, undefined, { ref: false })]);
  }

  async #restoreFromNeighbours(): Promise<void> {
    const from = this.#context.now();
    for (const peer of this.#health.neighbours) {
      const answer = await this.#send(peer, { kind: "give" });
      const kept = answer.ok ? parsed(KEPT, answer.text) : undefined;
      if (kept === undefined || kept.fragments.length === 0) continue;
      this.#journal.keep(kept.fragments);
      this.#restored("neighbours", answer.ok ? Buffer.byteLength(answer.text) : 0, from);
      return;
    }
    this.#restored("none", 0, from);
  }

  /** Both neighbours get a copy: one of them may be dead when it is needed. */
  async #copyToNeighbour(): Promise<void> {
    const { settings } = this.#context;
    const keep: RingMessage = { kind: "keep", fragments: [...this.#journal.fragments] };
    await Promise.all(
      this.#health.neighbours.map((peer) =>
        this.#context.peers.send(peer, JSON.stringify(keep), { retries: START_RETRIES, timeoutMs: settings.connectTimeoutMs }),
      ),
    );
  }
}

/** All agents start at once: a neighbour may listen only after some tries. */
const START_RETRIES = 8;
