import { conformanceAgent, conformanceSkill } from "../../conformance/agent.js";
import { type Agent, agent, type ServeOptions, type Server, serve } from "../../src/index.js";
import { agora } from "../../src/protocols/agora/index.js";

/** A document with a routine. */
export const TEMPERATURE = `---
name: Temperature
description: the temperature of a city
multiround: false
---
Send {"city": string}. The answer is {"temperature": integer}, in degrees Celsius.`;

/** The same for a conversation of several messages. */
export const LIST = `---
name: List
description: a list, one entry per message
multiround: true
---
Send one entry per message. The answer is the number of characters in it.`;

/** A document that no agent serves. */
export const UNSERVED = `---
name: Impossible
description: for refusals
multiround: false
---
nobody can serve this`;

/** An agent that runs the command of a test, answers temperatures in natural language, and has two routines. */
export function weatherAgent(document = TEMPERATURE): Agent {
  return agent({
    name: "weather",
    description: "does what a test commands",
    handle: (message, task) => (message.text.startsWith("How warm") ? "It is 21 degrees." : conformanceAgent(message, task)),
    skills: [
      conformanceSkill,
      {
        id: "temperature",
        name: "Temperature",
        description: "the temperature of a city",
        tags: ["weather"],
        inputModes: ["application/json"],
        document,
        handle: () => ({ temperature: 21 }),
      },
      {
        id: "list",
        name: "List",
        description: "a list, one entry per message",
        tags: ["list"],
        inputModes: ["text/plain"],
        document: LIST,
        handle: (message) => `${message.text.length}`,
      },
    ],
  });
}

/** Our own server for Agora. */
export function startAgora(options: ServeOptions = {}, document = TEMPERATURE): Promise<Server> {
  return serve(weatherAgent(document), { protocols: [agora], ...options });
}
