/** Demo agent that answers from a fixed procedure and names its edition. */
import { agent } from "../../../src/index.js";

const EDITION = "edition 7 of 1 May";

/** The first matching rule applies. */
const RULES: readonly (readonly [matter: RegExp, ruling: string])[] = [
  [/\bstorm\b/i, "No, not in a storm"],
  [/\bnight\b/i, "Yes, by night with a pilot on board"],
  [/\bregatta\b/i, "Yes, on the day of the regatta along the western shore"],
];

const rules = agent({
  name: "rules",
  description: "What the harbour's written procedure says",
  skills: [
    {
      id: "ruling",
      name: "A ruling",
      description: "By the edition in force",
      tags: ["rules"],
      examples: ["May Aurora come in by night?"],
    },
  ],
  handle(message) {
    const [, ruling] = RULES.find(([matter]) => matter.test(message.text)) ?? [undefined, "The procedure says nothing about it"];
    return `${ruling} (${EDITION}).`;
  },
});

export { rules as agent };
