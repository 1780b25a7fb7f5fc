/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  /** The last id so far: the feed continues after it. */
  readonly id: string;
}

/** Reads server-sent events from chunks of text. The gateway ends lines with a line feed. */
export class ServerEvents {
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id = "";

  read(chunk: string): readonly ServerEvent[] {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): readonly ServerEvent[] {
    if (line === "") return this.#end();
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#event = value;
    else if (name === "data") this.#data.push(value);
    else if (name === "id") this.#id = value;
    return [];
  }

  /** Comments end without data, and are no events. */
  #end(): readonly ServerEvent[] {
    const ended = this.#data.length === 0 ? [] : [{ event: this.#event || "message", data: this.#data.join("\n"), id: this.#id }];
    this.#event = "";
    this.#data = [];
    return ended;
  }
}
