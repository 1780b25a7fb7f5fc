/** Agents that pass a message on to the next one until it has been everywhere. */
import { runAgentProcess } from "../../../bench/protocols/processes/agent-process.js";

runAgentProcess({
  relay: ({ name, agents, peers, note }) => ({
    async handle({ text, seq }) {
      const next = agents[agents.indexOf(name) + 1];
      if (next === undefined) return `${text} ${name}`;
      const answer = await peers.send(next, `${text} ${name}`, { seq });
      note("relayed", { seq, about: next, values: { ok: answer.ok } });
      return answer.ok ? answer.text : `${answer.why}: ${answer.error}`;
    },
  }),
});
