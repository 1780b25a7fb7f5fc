/** Demo agent with a DID: callers prove theirs, and what they send is sealed. */
import { agent } from "../../../src/index.js";

const customs = agent({
  name: "customs",
  description: "Takes sealed cargo lists",
  skills: [
    { id: "declare", name: "Declare a cargo", description: "The seal is kept", tags: ["customs"], examples: ["12 containers"] },
  ],
  handle: (message) => `Declared and sealed: ${message.text}`,
});

export { customs as agent };
