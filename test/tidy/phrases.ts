/** A phrase that needs a second reading, and what to write instead. */
interface Phrase {
  readonly pattern: RegExp;
  readonly instead: string;
}

const PHRASES: readonly Phrase[] = [
  { pattern: /\b(?:that|which|who|what|it) (?:is|are|was|were) none\b/i, instead: '"invalid", "missing" or "not a …"' },
  {
    pattern: /\b(?:this|that|which|it) (?:is|was) no (?!longer\b|more\b|less\b|later\b|way\b|one\b)/i,
    instead: '"is not a …"',
  },
  { pattern: /\bby the letter\b/i, instead: '"exactly", or name the rule' },
  { pattern: /\bwho must\b/i, instead: 'the subject: "a caller that must …", or "for …ing"' },
  { pattern: /\bfor who\b/i, instead: '"for callers that …", or "for …ing"' },
  { pattern: /\bwhat is told\b|\bis told so\b/i, instead: 'who sends what: "the response says …"' },
  { pattern: /\bdoors?\b/i, instead: '"interface", "listener" or "refused"' },
  { pattern: /\banew\b/i, instead: '"again", or "a new …"' },
  { pattern: /\bin good order\b/i, instead: '"valid", or "cleanly"' },
  { pattern: /\blast words?\b/i, instead: '"the terminal frame", "the end of the response"' },
  { pattern: /\bheard out\b|\bhear(?:s|ing)? (?:it|them|a host|the host) out\b/i, instead: '"read to the end"' },
  { pattern: /\bkept company\b|\bkeep(?:s|ing)? company\b/i, instead: '"kept alive"' },
  { pattern: /\bNot an? [A-Z]\w+ was\b/, instead: '"A non-… value was …"' },
  { pattern: /\b(?:too dear|dearer|dearest|is dear)\b/i, instead: '"expensive", or "costs more"' },
  { pattern: /\b(?:message-)?manners?\b/i, instead: '"quirks"' },
  { pattern: /\bpassages?\b/i, instead: '"host call"' },
  { pattern: /\bcrossings?\b/i, instead: '"call context"' },
  { pattern: /\b(?<!only )so many\b(?!.*\bthat\b)/i, instead: '"this many", or the name of the parameter' },
  { pattern: /\bwitness(?:es)?\b/i, instead: '"commit marker"' },
  { pattern: /\b(?:is|are|was|were) no [a-z]+ any ?more\b/i, instead: '"is no longer a …"' },
  { pattern: /\bsums? of usage\b/i, instead: '"usage sums"' },
  { pattern: /\bthe bytes that came\b/i, instead: '"byte for byte"' },
  { pattern: /\bfor as long as one likes\b/i, instead: '"for as long as you like"' },
  { pattern: /\bwebhooks? (?:is|are) told\b/i, instead: '"gets the event", "is sent to"' },
];

interface Finding {
  readonly path: string;
  readonly line: number;
  readonly found: string;
  readonly instead: string;
}

export function phrasesIn(path: string, text: string): Finding[] {
  // Almost every text has none of them, and no phrase goes beyond the end of a line.
  const here = PHRASES.filter(({ pattern }) => pattern.test(text));
  if (here.length === 0) return [];
  return text.split('\n').flatMap((line, at) =>
    here.flatMap(({ pattern, instead }) => {
      const found = pattern.exec(line)?.[0];
      return found === undefined ? [] : [{ path, line: at + 1, found, instead }];
    }),
  );
}
