/** Demo agent whose selected protocol may not be registered; it runs once it is. */
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
