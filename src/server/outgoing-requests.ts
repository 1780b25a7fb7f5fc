import {
  AgentError,
  CancelSource,
  floorRefusal,
  type Maybe,
  NO_FLOOR,
  raiseFloor,
  startCall,
  subjectOf,
} from "../envelope/index.js";
import type { Outgoing, OutgoingStart } from "../protocols/index.js";
import { type AddressClass, guardUrl, isAsPublic, type Resolve, resolveByDns } from "../security/index.js";
import { isTlsAddress } from "../transport/address-parts.js";
import type { Link } from "../transport/exchange.js";
import type { Limits } from "../transport/limits.js";
import { PinnedLinks } from "./pinned-links.js";

/** Hosts with open connections for each request, so that none is closed while in use. */
const HOSTS_PER_REQUEST = 2;

export interface OutgoingOptions {
  readonly limits: Pick<Limits, "outgoingRequests" | "outgoingRequestsPerSender" | "outgoingMs" | "inboxMessages">;
  /** Where the callers of the server are: nothing more private is called, whatever document names it. */
  reach(): AddressClass;
  /** Hosts, `name` or `name:port`, that may have any address. */
  readonly allow?: Maybe<readonly string[]>;
  /** Default: the resolver of the system. */
  readonly resolve?: Maybe<Resolve>;
}

/**
 * The requests that a server sends on its own. A peer chooses their address, so it is checked before every request and dialled at the
 * checked addresses; the owner whose message led to a request has a share of them, so that nobody makes this server flood another one.
 */
export function outgoingRequests({ limits, reach, allow, resolve = resolveByDns }: OutgoingOptions): {
  readonly run: Outgoing;
  close(): Promise<void>;
} {
  const links = new PinnedLinks(limits.outgoingRequests * HOSTS_PER_REQUEST, undefined);
  const turns = new Turns(limits);

  function linkFor({ from: document }: OutgoingStart): Link {
    // A document from a host that the operator trusts does not make its author trusted.
    const from = isAsPublic(reach(), document) ? reach() : document;
    return {
      async exchange(request) {
        const target = await guardUrl(request.target, { from, allow, resolve });
        const isClear = !isTlsAddress(target.url) && target.class !== "loopback";
        if (request.call?.floor.encrypted === true && isClear)
          throw floorRefusal("encrypted", `an unencrypted connection to ${target.hostname} does not provide`);
        return links.to(target).exchange(request);
      },
      close: async () => undefined,
    };
  }

  const run: Outgoing = async (start, work) => {
    const release = await turns.take(subjectOf(start.owner));
    const cancel = new CancelSource();
    const late = (): void =>
      cancel.cancel(new AgentError("unavailable", `the peer did not answer within ${limits.outgoingMs} ms`));
    const timer = setTimeout(late, limits.outgoingMs);
    try {
      return await work(linkFor(start), startCall({ cancel, floor: raiseFloor(NO_FLOOR, start.floor ?? {}) }));
    } finally {
      clearTimeout(timer);
      release();
    }
  };

  return { run, close: () => links.close() };
}

/** Requests under way, in all and of one sender; others wait for their turn, in order, up to a limit. */
class Turns {
  readonly #limits: OutgoingOptions["limits"];
  readonly #running = new Map<string, number>();
  readonly #waiting: { readonly sender: string; start(): void }[] = [];
  #all = 0;

  constructor(limits: OutgoingOptions["limits"]) {
    this.#limits = limits;
  }

  async take(sender: string): Promise<() => void> {
    if (!this.#hasRoom(sender)) {
      const { inboxMessages } = this.#limits;
      if (this.#waiting.length >= inboxMessages)
        throw new AgentError("overloaded", `${inboxMessages} requests already wait to be sent`, { sent: "no" });
      await new Promise<void>((start) => this.#waiting.push({ sender, start }));
    } else this.#enter(sender);
    return () => this.#leave(sender);
  }

  #hasRoom(sender: string): boolean {
    const { outgoingRequests: all, outgoingRequestsPerSender: own } = this.#limits;
    return this.#all < all && (this.#running.get(sender) ?? 0) < own;
  }

  #enter(sender: string): void {
    this.#all++;
    this.#running.set(sender, (this.#running.get(sender) ?? 0) + 1);
  }

  #leave(sender: string): void {
    this.#all--;
    const left = (this.#running.get(sender) ?? 1) - 1;
    if (left === 0) this.#running.delete(sender);
    else this.#running.set(sender, left);
    const next = this.#waiting.findIndex((each) => this.#hasRoom(each.sender));
    const [first] = next < 0 ? [] : this.#waiting.splice(next, 1);
    if (first === undefined) return;
    this.#enter(first.sender);
    first.start();
  }
}
