/** The stance of a stretch of text towards its subject. */
export type Stance = "wanted" | "denied" | "avoided" | "elsewhere";

/**
 * Phrases that change the stance of the words next to them, in small letters. `after`: up to the end of the clause. `before`: the clause up to
 * here. `around`: the whole clause. Only unambiguous phrases: "never twice" and "nobody may read it" are needs.
 */
export interface Frame {
  readonly stance: Exclude<Stance, "wanted">;
  readonly covers: "after" | "before" | "around";
  readonly words: RegExp;
}

const AFTER = {
  denied: [
    String.raw`(?:no|without|hardly any|little) (?:real |particular |great )?(?:need|reason|call|use|occasion|requirement|demand)s? (?:for|to|of)`,
    String.raw`needs? (?:no|neither|not)`,
    "needn't|need not",
    String.raw`(?:do|does|did|is|are|will|would)(?:n't| not) (?:really |even )?(?:need|require|call for|ask for|care|mind|worry|bother|insist|have to|depend on)`,
    String.raw`(?:nobody|no one|none of (?:us|them)|no party) (?:here )?(?:has to|have to|needs?|cares?|minds?|worries|bothers?|insists?|asks for)`,
    "could(?:n't| not) care less",
    String.raw`(?:not|isn't|aren't) (?:interested in|bothered (?:by|about|with)|worried about|concerned (?:with|about)|fussy about|particular about|after)`,
    "nothing (?:is |was |here is )?(?:secret|confidential|sensitive|private|to (?:hide|vote|discuss|negotiate|agree|sign|decide|prove|poll))",
    "never mind|regardless of|skip(?:ping)? the",
    String.raw`(?:do|does|did|would)(?:n't| not) (?:really |even )?want(?! to (?:lose|wait|miss|risk|be|find|see|learn|have))|wants? (?:no|neither)`,
    String.raw`(?:am|is|are|'m|'re) not (?:sending|asking for|planning|looking for)`,
    "(?:nobody|no one) (?:will be|is|are|gets?) asked (?:for|to)|(?:nobody|no one) signs (?:for )?(?:it|anything)",
  ],
  avoided: [
    // Avoiding stalls or duplicates is a need; avoiding a thing is not.
    String.raw`avoid(?:s|ed|ing)?(?! (?:\w+ing|duplicates?|delays?|loss|losses|conflicts?|drift|double|lag|stalls?|head)\b)`,
    "refrain(?:s|ing)? from|steer(?:s|ing)? clear of|(?:stay|keep)(?:s|ing)? (?:away from|clear of|off)",
    "(?:deliberately|consciously|expressly|explicitly) (?:no|not|do without|does without|without)",
    "(?:tired|sick|weary) of|fed up with",
    "rather than|instead of|as opposed to|in place of|in lieu of",
    // "Under no circumstances may it be booked twice" is a requirement.
    "under no circumstances(?! (?:may|must|shall|should|can|will|is|are))",
    "rul(?:es?|ed|ing) out|(?:a )?ban on|no place for",
    String.raw`(?:no|not|without|nothing with|never|non)[ -](?:any |a |an |the )?(?:[\w-]+[ ,/]+(?:or |and )?){0,2}(?:rest|restful|resources?|resource[ -](?:oriented|modell?ing|semantics)|endpoints?|crud|status codes?|state machines?)`,
  ],
  elsewhere: ["unlike|compared (?:to|with)|as distinct from"],
} as const;

const BEFORE = {
  denied: [
    String.raw`(?:not|n't|never|neither|nor) (?:strictly |really |even |be )?(?:needed|required|necessary|wanted|asked for|called for|important|relevant|essential|mandatory)`,
    "unnecessary|irrelevant|superfluous|unimportant|immaterial|pointless|overkill|optional",
    String.raw`(?:do|does|did)(?:n't| not) (?:matter|apply|arise|count|concern us|interest)`,
    String.raw`(?:is|are|be|of) no (?:real |great |particular )?(?:concern|issue|interest|importance|consequence|use|worry|tragedy|topic|requirement)`,
    "out of place|beside the point|not the point|uncalled for|unwanted|needless|not at issue|a nice extra",
    "plays? no (?:part|role)|n/a|(?:does|do) no (?:harm|damage)|can wait|all the same to (?:me|us)",
  ],
  avoided: ["(?:is|are|be|was|were) (?:to be |best )?(?:avoided|ruled out|turned down|off limits|expressly unwanted)"],
  elsewhere: [],
} as const;

const AROUND = {
  denied: [
    String.raw`neither [^.;]{1,80} nor [^.;]{1,60} (?:needed|required|necessary|called for|wanted|asked for)`,
    // "No job is needed twice" does not end there.
    String.raw`no [^.;,:]{1,60} (?:(?:is|are) )?(?:wanted|needed|required|necessary|called for|asked for|involved)(?=[.;,]|$)`,
  ],
  avoided: [],
  elsewhere: [
    "elsewhere|next door|out of scope|not in scope|outside (?:our|the) scope",
    String.raw`(?:is|are) (?:already )?(?:handled|done|covered|owned|provided|taken care of|dealt with|looked after|seen to|solved) (?:by|in|at|upstream|downstream)`,
    "(?:is|are) (?:not|none of) (?:ours|our (?:job|part|business|concern|affair))|somebody else's|someone else's|a matter for|the (?:job|business|affair|responsibility) of",
    String.raw`(?:is|are|stays?|remains?) (?:(?:the|an?other|that|our|their) )?(?:[\w-]+ )?[\w-]+'s? (?:own )?(?:business|affairs?|job|concern|task|worry|problem|toy|story)`,
    String.raw`(?:is|are) for (?:the |an?other )?(?:[\w-]+ ){1,2}to (?:know|decide|do|handle|settle|worry about)|let (?:the )?[\w-]+ (?:have|keep) their`,
    String.raw`(?:was|were|has been|have been) (?:verified|checked|held|proven|established|done) (?:when|at the|long ago|already|beforehand)`,
    String.raw`used to|formerly|in the past|years ago|last year|back then|until recently|the (?:old|former|previous|earlier|legacy|outgoing) (?:system|version|design|prototype|set-?up|solution|pilot|release|platform|supplier|tool)`,
    String.raw`phase (?:two|three|2|3|ii|iii)|next (?:year|quarter|release)|a later (?:phase|release|version|project)|(?:come|comes|follow|follows) in v\d|on the roadmap`,
    "thesis|hobby|slide deck|brochure|known for|made (?:its|our|their) name|famous for|a talk (?:on|about)",
  ],
} as const;

function framesOf(covers: Frame["covers"], groups: Record<Frame["stance"], readonly string[]>): readonly Frame[] {
  return (["denied", "avoided", "elsewhere"] as const).flatMap((stance) =>
    groups[stance].length === 0 ? [] : [{ stance, covers, words: phrases(groups[stance], "gu") }],
  );
}

function phrases(words: readonly string[], flags: string): RegExp {
  return new RegExp(String.raw`(?<![\w-])(?:${words.join("|")})(?![\w-])`, flags);
}

export const FRAMES: readonly Frame[] = [
  ...framesOf("after", AFTER),
  ...framesOf("before", BEFORE),
  ...framesOf("around", AROUND),
];

/** Matches where any frame does. Most sentences have none, and one search says so. */
export const ANY_FRAME = phrases(
  [AFTER, BEFORE, AROUND].flatMap((groups) => Object.values(groups).flat()),
  "u",
);
