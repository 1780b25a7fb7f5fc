/** A need, and the same words where they are not a need, with the expected result of each. */
export interface Pair {
  readonly turn: string;
  readonly need: readonly [text: string, protocol: string];
  /** Its protocol follows from the rest of the text. */
  readonly twin: readonly [text: string, protocol: string];
}

export const PAIRS: readonly Pair[] = [
  {
    turn: "no need for",
    need: ["The clinic's courier and the pharmacy must each prove who they are before a prescription changes hands.", "ANP"],
    twin: [
      "There is no need for anyone to prove who they are. The two bots just bat short questions back and forth until the recipe is settled.",
      "A2A",
    ],
  },
  {
    turn: "not needed here",
    need: ["Whatever the lawyers send each other has to be encrypted from end to end, so that the relay sees only noise.", "ANP"],
    twin: [
      "End-to-end encryption is not needed here. Every parking space is a resource with its own address that can be fetched, updated and deleted.",
      "ACP",
    ],
  },
  {
    turn: "rather than, the wanted first",
    need: ["The planners hold a conversation and pick up where the other left off, turn by turn.", "A2A"],
    twin: [
      "Each shelf is created, read and deleted by an ordinary web request at its own URL rather than in a conversation that goes turn by turn.",
      "ACP",
    ],
  },
  {
    turn: "instead of, the unwanted first",
    need: ["Expose the greenhouse vents as REST resources with the usual create, read, update and delete.", "ACP"],
    twin: [
      "Instead of REST resources with create, read, update and delete, the vent agents simply talk it over, one remark answering the other.",
      "A2A",
    ],
  },
  {
    turn: "overkill",
    need: ["Every transfer is digitally signed so that the sender cannot deny later that it was his.", "ANP"],
    twin: [
      "Digital signatures would be overkill. The mill takes in two hundred thousand weighing slips every night as one batch and archives them.",
      "ACP",
    ],
  },
  {
    turn: "handled by somebody else",
    need: ["Before the sluice opens, five wardens vote and three of them have to agree.", "Agora"],
    twin: [
      "The vote of the wardens is handled by the council office. Our piece streams the water level as it rises, reading by reading.",
      "A2A",
    ],
  },
  {
    turn: "in the past",
    need: ["The render job runs for nine hours; one can look up its status, pause it, resume it or cancel it.", "ACP"],
    twin: [
      "The old system ran jobs for nine hours that one could pause or cancel. Now two agents chat with each other and settle the picture in a few quick turns.",
      "A2A",
    ],
  },
  {
    turn: "does not matter",
    need: ["The same price tick goes to four hundred screens at once, and a slow screen must not hold up the others.", "A2A"],
    twin: [
      "Whether the same tick reaches many screens at once does not matter. Everybody follows version seven of the written settlement procedure, to the letter.",
      "Agora",
    ],
  },
  {
    turn: "a later phase",
    need: [
      "Partners from other companies, with whom we share no authority, must show verifiable credentials at the door.",
      "ANP",
    ],
    twin: [
      "Verifiable credentials for partners from other companies come in a later phase. For now a retried order must never be booked twice, whatever is sent again.",
      "ACP",
    ],
  },
  {
    turn: "unlike the neighbours",
    need: ["The inspectors work through checklist edition nine, step by step, and can show afterwards that they did.", "Agora"],
    twin: [
      "Unlike the inspectors with their checklist edition nine, our two agents improvise in open dialogue, question and answer, until the cause is found.",
      "A2A",
    ],
  },
  {
    turn: "nobody cares",
    need: ["No operator along the way may be able to read what the patient told the therapist.", "ANP"],
    twin: [
      "Nobody cares who reads it on the way. Uploads of eighty gigabytes go in pieces, each piece is checked, and a broken transfer resumes where it stopped.",
      "ACP",
    ],
  },
  {
    turn: "do not need",
    need: [
      "The brokers bargain over which message format to use before they trade, and write the agreed protocol down.",
      "Agora",
    ],
    twin: [
      "We do not need agents that bargain over a message format. We need proof of identity from each side, since impostors have tried to get in.",
      "ANP",
    ],
  },
  {
    turn: "avoid",
    need: ["Model each loan as a resource with endpoints and status codes.", "ACP"],
    twin: ["Avoid resources, endpoints and status codes. The agents exchange tiny messages the moment something moves.", "A2A"],
  },
  {
    turn: "irrelevant",
    need: ["Answers have to appear word by word while they are still being composed.", "A2A"],
    twin: [
      "Whether answers appear word by word is irrelevant. What counts is that nobody between the two ends can decipher the content.",
      "ANP",
    ],
  },
  {
    turn: "not interested in",
    need: ["Ingest the meter readings of the whole county in one nightly bulk load and append them to the archive.", "ACP"],
    twin: [
      "We are not interested in bulk loads into an archive. Three departments have to sign off under the agreed rules before a release goes out.",
      "Agora",
    ],
  },
  {
    turn: "an anecdote",
    need: ["A resident can withdraw her consent at any time, and access ends with it.", "ANP"],
    twin: [
      "Our founder wrote her thesis on consent and how to withdraw it. This module keeps one light connection open and passes tiny nudges along it.",
      "A2A",
    ],
  },
  {
    turn: "out of scope",
    need: [
      "When the sorter is swamped it must be able to slow the senders down, and its queue never grows beyond a limit.",
      "ACP",
    ],
    twin: [
      "Slowing senders down is out of scope. The agents negotiate among themselves which protocol to speak and adopt it for the session.",
      "Agora",
    ],
  },
  {
    turn: "no longer",
    need: ["Voice, pictures and text are mixed in one exchange, and both ends agree which of them the other can display.", "A2A"],
    twin: [
      "We no longer mix voice, pictures and text. Each message must carry a signature that holds up in court, so nobody can repudiate it.",
      "ANP",
    ],
  },
  {
    turn: "but",
    need: ["There is a vote of the members before any money moves.", "Agora"],
    twin: [
      "There is no vote of the members, but a long job that runs overnight and that one can poll, pause and cancel by its ticket.",
      "ACP",
    ],
  },
  {
    turn: "a demand in the negative stays one",
    need: ["Under no circumstances may a payment be executed twice when the request is repeated.", "ACP"],
    twin: [
      "Payments may well be executed twice, that does no harm. The members vote on each of them under the statutes.",
      "Agora",
    ],
  },
  {
    turn: "never without",
    need: ["Never accept a message from another company without checking its cryptographic identity.", "ANP"],
    twin: [
      "Cryptographic identity need not be checked. Callers read and change the entries of a catalogue, each at its own address, by plain web requests.",
      "ACP",
    ],
  },
  {
    turn: "a wish that was dropped",
    need: ["All sites have to follow the same documented routine in the same edition.", "Agora"],
    twin: [
      "Someone proposed a documented routine in one edition for all sites; that was ruled out. The foremen's agents talk to and fro and hand over to each other.",
      "A2A",
    ],
  },
  {
    turn: "another team",
    need: ["Give each repair a ticket under which it can be tracked, paused and called off during the days it takes.", "ACP"],
    twin: [
      "Tickets that can be tracked and paused are the other team's job. Ours must keep every word secret from the carrier in between.",
      "ANP",
    ],
  },
  {
    turn: "neither nor",
    need: ["The exchange is confidential between the two ends, and each end authenticates itself with its own keys.", "ANP"],
    twin: [
      "Neither secrecy nor proof of identity is required. Two tutors take turns in a dialogue with follow-up questions.",
      "A2A",
    ],
  },
  {
    turn: "as opposed to",
    need: ["Updates are pushed to all subscribers at the same instant.", "A2A"],
    twin: [
      "Arbitration follows a fixed written rulebook, as opposed to updates that are pushed to all subscribers at the same instant.",
      "Agora",
    ],
  },
  {
    turn: "a question with its answer",
    need: ["Must every step be taken from the approved procedure? Yes, and the version used has to be on record.", "Agora"],
    twin: [
      "Must every step be taken from an approved procedure? No. Records are posted in batches of fifty thousand and stored for good.",
      "ACP",
    ],
  },
  {
    turn: "only",
    need: ["The relay operator must be cryptographically unable to see the content.", "ANP"],
    twin: [
      "The relay operator may see all of the content. The only thing that counts is that reactions arrive at once, hundreds of small ones a minute.",
      "A2A",
    ],
  },
  {
    turn: "no REST",
    need: ["The inventory is a REST service: one address per item, the usual verbs.", "ACP"],
    twin: ["No REST, please. The stewards' assistants should converse freely and hand the thread to one another.", "A2A"],
  },
];
