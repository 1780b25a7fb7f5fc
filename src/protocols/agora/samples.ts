import type { SampleCall } from "../protocol.js";

/** Natural language, as the Python library writes it: no document, no sources. */
export function samples(text: string): readonly SampleCall[] {
  return [
    {
      wire: { version: "0.2", binding: "HTTP" },
      about: "Agora",
      path: "",
      headers: {},
      body: { protocolHash: null, body: text, protocolSources: [] },
    },
  ];
}
