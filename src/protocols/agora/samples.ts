import type { SampleCall } from "../protocol.js";

/** Plain language, as the library's sender writes it: no document, no sources. */
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
