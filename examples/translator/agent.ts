/** An agent. `koine serve examples/translator/agent.ts` serves it in every protocol. */
import { agent } from "koine";

const FRENCH: ReadonlyMap<string, string> = new Map([
  ["good", "bon"],
  ["morning", "matin"],
  ["evening", "soir"],
  ["thank you", "merci"],
  ["hello", "bonjour"],
  ["my", "mon"],
  ["friend", "ami"],
]);

export default agent({
  name: "translator",
  description: "English to French, word by word",
  skills: [
    {
      id: "translate",
      name: "Translate",
      description: "English words in French",
      tags: ["translation", "french"],
      examples: ["good morning"],
    },
  ],
  async *handle(message, task) {
    const words = message.text.toLowerCase().match(/\p{L}+/gu) ?? [];
    if (words.length === 0) return task.reject("send me some English words");
    if (words.length > 1) yield task.working(`looking up ${words.length} words`);
    for (const [index, word] of words.entries()) yield `${index === 0 ? "" : " "}${FRENCH.get(word) ?? word}`;
  },
});
