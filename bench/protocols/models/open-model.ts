import { openLiveModel } from "./live.js";
import { openRecording } from "./recording.js";
import { scriptedModel } from "./scripted.js";
import type { BenchModel, ModelSettings } from "./settings.js";

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
