import { type Agent, agent } from "../../src/index.js";

/** An agent that runs the first word of a message as a command, and records its calls. */
export interface CommandAgent {
  readonly agent: Agent;
  /** Resolves when a slow call has begun, and when it was cancelled. */
  readonly began: Promise<void>;
  readonly stopped: Promise<void>;
  release(): void;
}

export const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  "base64",
);

export function createCommandAgent(name: string, description = "Does what it is told"): CommandAgent {
  const [began, begin] = gate();
  const [stopped, stop] = gate();
  const [released, release] = gate();
  const made = agent({
    name,
    description,
    skills: [
      { id: "sum", name: "Sums", description: "Adds numbers", tags: [], handle: () => "the sum" },
      { id: "rhyme", name: "Rhymes", description: "Finds rhymes", tags: [], handle: () => "a rhyme" },
    ],
    async *handle(message, task) {
      if (task.turn === 2) return `you said ${message.text}`;
      switch (message.text.split(" ")[0]) {
        case "steps":
          yield task.working("step one");
          yield task.working("step two");
          return "done in two steps";
        case "slow":
          task.signal.addEventListener("abort", stop, { once: true });
          yield task.working("climbing");
          begin();
          await Promise.race([stopped, released]);
          return "at the top";
        case "ask":
          return task.ask("which city?");
        case "fail":
          return task.fail("no luck today");
        case "picture":
          return [
            { kind: "text", text: "a dot" },
            { kind: "raw", bytes: PIXEL, mediaType: "image/png", name: "dot.png" },
            { kind: "raw", bytes: Buffer.from("a,b"), mediaType: "text/csv", name: "table.csv" },
            { kind: "url", url: "https://files.example/report.pdf", name: "report.pdf", mediaType: "application/pdf" },
          ];
        case "data":
          return { sum: 42 };
        case "heard":
          return message.content
            .map((part) => (part.kind === "raw" ? `${part.name} ${part.bytes.length}` : part.kind))
            .join(", ");
        default:
          return `${name} heard ${message.text}`;
      }
    },
  });
  return { agent: made, began, stopped, release };
}

function gate(): readonly [Promise<void>, () => void] {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [opened, open];
}
