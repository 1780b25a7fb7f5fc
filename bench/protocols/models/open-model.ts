import { openLiveModel } from "./live.js";
import { openRecording } from "./recording.js";
import { scriptedModel } from "./scripted.js";
import type { ModelSettings } from "./settings.js";

/** Produces the answer of an agent. */
export interface BenchModel {
  answer(payload: string, signal: AbortSignal): Promise<string>;
}

export async function openModel(settings: ModelSettings): Promise<BenchModel> {
  switch (settings.kind) {
    case "null":
      return { answer: async (payload) => payload };
    case "scripted":
      return scriptedModel(settings);
    case "recorded":
      return openRecording(settings.file);
    case "live":
      return openLiveModel(settings);
  }
}
