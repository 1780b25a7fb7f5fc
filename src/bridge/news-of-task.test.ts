import { describe, expect, it } from "vitest";
import { type Part, type State, type Task, textPart } from "../envelope/index.js";
import type { UpstreamEvent } from "../tasks/index.js";
import { NewsOfTask } from "./news-of-task.js";

const OF = { taskId: "t", contextId: "c" };

function held(parts: readonly Part[]): Task {
  const artifacts = [{ id: "a", parts }];
  return { id: "t", contextId: "c", status: { state: "working", at: 1 }, artifacts, history: [] };
}

function artifact(parts: readonly Part[], append: boolean, id = "a"): UpstreamEvent {
  return { kind: "artifact", ...OF, artifact: { id, parts }, append, last: false };
}

const status = (state: State): UpstreamEvent => ({ kind: "status", ...OF, status: { state, at: 2 } });

/** What a reader would see of the events. */
function shown(events: readonly UpstreamEvent[]): readonly string[] {
  return events.map((event) => {
    if (event.kind === "status") return event.status.state;
    const texts = event.artifact.parts.map((part) => (part.kind === "text" ? part.text : part.kind));
    return `${event.append ? "+" : "="}${texts.join("|")}`;
  });
}

describe("NewsOfTask", () => {
  it("is only what is added to a text, also where its chunks were joined", () => {
    const news = new NewsOfTask(held([textPart("a"), textPart("b")]));
    expect(shown(news.in([artifact([textPart("abc")], false), status("working")]))).toEqual(["+c"]);
    expect(shown(news.in([artifact([textPart("d")], true)]))).toEqual(["+d"]);
  });

  it("is nothing while events are sent again from the first on", () => {
    const news = new NewsOfTask(held([textPart("a"), textPart("b")]));
    expect(shown(news.in([status("working"), artifact([textPart("a")], false), artifact([textPart("b")], true)]))).toEqual([]);
    expect(shown(news.in([artifact([textPart("c")], true), status("completed")]))).toEqual(["+c", "completed"]);
  });

  it("is the whole artifact where it differs", () => {
    const bytes = (last: number): Part => ({ kind: "raw", bytes: new Uint8Array([1, last]) });
    expect(shown(new NewsOfTask(held([bytes(2)])).in([artifact([bytes(2)], false)]))).toEqual([]);
    expect(shown(new NewsOfTask(held([bytes(2)])).in([artifact([bytes(3)], false)]))).toEqual(["=raw"]);
    expect(shown(new NewsOfTask(held([textPart("ab")])).in([artifact([textPart("x")], false, "b")]))).toEqual(["=x"]);
  });

  it("is a shorter artifact at the end, because the upstream has replaced it", () => {
    const news = new NewsOfTask(held([textPart("abc")]));
    expect(shown(news.in([artifact([textPart("ab")], false)]))).toEqual([]);
    expect(shown(news.in([status("completed")]))).toEqual(["=ab", "completed"]);
  });
});
