const QUESTION_CHARS = 200;
/** An offer to go on with something that has no name needs no answer. */
const OPEN_OFFER = new RegExp(
  [
    /\b(?:any|some)thing else\b|^is there anything\b|\bany (?:other |more |further )?questions\b|\b(?:(?:what|how) else|how) (?:can|may) I (?:help|assist)\b|\bwhat(?:'s| is)? next\b|\bto \w+(?: on)? next\?/,
    /\bwhat (?:can I do for you|(?:would|do) you (?:like|want|need)(?: me)? (?:to work on|help with))(?: today| now)?\?/,
    /什么[^，。]{0,6}[能可]以?(?:为|帮)|(?:需要我|[能可]以?)(?:帮|为|做)[^，。]{0,6}什么|何か?(?:お手伝い|ご用)|どのような(?:ご用|お手伝い)|무엇을 도와/,
    /(?:en qué|cómo|em que|como) (?:te |le |lhe )?(?:puedo|posso) (?:te |lhe )?(?:ayudar|ajudar)|\bpuis-je (?:vous |t['’])?aider\b|\b(?:wie|womit|wobei) kann ich (?:Ihnen|dir|euch)\b.* helfen|posso aiutar|могу помочь/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);
/** It has not begun, so that it needs the answer. */
const LACKS = /\bI need (?:more|further|some|a few|additional) (?:details?|information|context|clarification)\b/i;
const ASKS_FOR_ANSWER = /(?<=\?["'*_)”]*) +(?:just |please )?let me know[^.!?\n]{0,60}[.!]?$/i;

const CHOICE = /^\s*(?:[-*•]|\(?(?:\d{1,2}|[A-Za-z])[.)])\s|^\s*$/;
const OFFERS_CHOICES =
  /\b(?:(?:would|do) you|should (?:I|we)|shall (?:I|we)|want me to|which (?:one|of|option|would))\b.*[?:]\W*$/i;
const MAX_END_CHARS = 4_000;

/** A question with the list of choices that follows it at the end of a text. */
function questionWithChoices(text: string): string | undefined {
  const lines = text.split('\n');
  const lead = lines.findLastIndex((line) => !CHOICE.test(line));
  const line = lines[lead] ?? '';
  const asks = OFFERS_CHOICES.test(line) || (/:\W*$/.test(line) && isRequest(withoutMarks(line)));
  if (lead === lines.length - 1 || !asks) return undefined;
  return lines.slice(lead).join(' ').replaceAll(/\s+/g, ' ').trim();
}

/** What may follow the end of an answer: its sources, and lines for the program, such as those of the app of Codex. */
const ADDED =
  /(?:\n-{3,})?\n+(?:[#*_ ]*(?:sources|references|quellen|fuentes|参考)\b[^\n]{0,20}(?:\n+[ \t]*(?:[-*•\d[]|https?:)[^\n]*)+|(?:::[\w-]+\{[^\n]*\}[ \t]*(?:\n\s*|$))+)$/i;

const CONDITION =
  /^(?:if|once(?! you(?:'ve| have) .*, I)|when(?:ever)?|should|in case|si|wenn|falls|sobald|quand)\b|^(?:如果|如需|如有|若|もし)|원하/i;
/** A request to the person that is no question, at the beginning of a sentence or of its last part. */
const REQUEST = new RegExp(
  [
    /(?:^|[—–;:,] )(?:(?:please|so|just|then|and|now),? )*(?:let me know|tell me) (?:which|what|how|whether|where|who|your|the|(?:once|when) (?:that|it|this|done|you(?:'ve| have)))\b/,
    /^once you(?:'ve| have) [^.]*, I(?:'ll| will| can) (?:proceed|continue|go on|retry|try again|re-?run|resume)\b/,
    /^(?:so |then )?please (?:confirm|clarify|choose|pick|select (?:one|an option|which)|decide|specify|reply|answer|provide|paste|send me|share|run the command again)\b/,
    /\bawait(?:ing)? your (?:answer|reply|response|confirmation|approval|decision|go-ahead|input)\b|^por favor,? (?:confirm\w*|responda|indique|elija|escolha|informe)(?![\w])/,
    /^(?:choose|pick) (?:one|an option|between|which)\b|^(?:reply|answer) with\b|^your (?:choice|call|pick)\b/,
    /(?:^|[—–;:,] )(?:dis|dites)[-‑ ]moi (?:quel\w*|lequel|le|la|les|comment|["«“])|^dime (?:qué|cuál|cómo|el|la)(?=\s)|^sag(?:en Sie)? mir (?:bitte )?(?:welche|was|wie)\b/,
    /[请請]你?(?:告[诉訴]我|[确確][认認]|[选選][择擇]|提供|告知)|[请請][^。！]{0,12}(?:打分|评分|回复|回覆)|^(?:hãy )?cho (?:tôi|mình) biết (?!nếu)|(?:教えて|選んで|お選び|ご指示|確認させて)(?:くだ|下さ|いただ)|(?:알려|선택해) ?주세요/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);
/** Words in italics; `_` stands also in names, such as `_private`. */
const ITALICS = /(?<![\w/\\`])_(?=\S)([^_\n]+)(?<=\S)_(?![\w/\\`])/g;

function withoutMarks(text: string): string {
  return text.replaceAll(ITALICS, '$1').replaceAll(/[*`]/g, '');
}

/** A question to the person that a sentence or two may follow, such as what comes of the answer. */
const TO_PERSON =
  /^(?:could you|can you|would you|do(?:es)? your?|did you|are those|is this|are you|should I|shall I|may I|which (?:one|of|option)|what (?:should|would you))\b.*\?$|(?:ですか|(?<!あり)ますか|ましょうか|でしょうか|까요|습니까|[吗嗎])[?？]$/i;
const MAX_AFTER = 2;

/** Courtesy, which needs no answer. */
const COURTESY =
  /\b(?:what you think|what (?:else )?you(?:'d| would)? (?:like|want|need)|(?:it|that|this) (?:goes|works|looks)|your (?:thoughts|feedback))\b|\bnext[.!]?$/i;

function isRequest(plain: string): boolean {
  return REQUEST.test(plain) && !CONDITION.test(plain) && !COURTESY.test(plain);
}

/** Such as "Want me to?": what it asks is in the sentence before. */
const SHORT_QUESTION_CHARS = 12;

/** The question with which a text ends, with its choices; its last 200 characters if it is longer. Undefined without one that a person must answer. */
export function questionIn(whole: string): string | undefined {
  const text = whole.slice(-MAX_END_CHARS).trimEnd().replace(ADDED, '').trimEnd();
  const choices = questionWithChoices(text);
  const offer = choices && withoutMarks(choices);
  if (offer !== undefined)
    return offer.length > QUESTION_CHARS ? `${offer.slice(0, QUESTION_CHARS - 1).toWellFormed()}…` : offer;
  const line = text.slice(text.lastIndexOf('\n') + 1).replace(ASKS_FOR_ANSWER, '');
  const sentences = line.split(/(?<=[.!?:]) +(?!\p{Ll})|(?<=[。！？])/u);
  const asked = sentences.findLastIndex((one) => TO_PERSON.test(withoutMarks(one).trim()));
  const last = sentences.length - 1;
  const asksLast = /[?？]\W*$/.test(line) || REQUEST.test(sentences[last] ?? '');
  const isLast = asked === -1 || asksLast || last - asked > MAX_AFTER;
  const [before, sentence = ''] = ['', ...sentences.slice(0, (isLast ? last : asked) + 1)].slice(-2);
  const isQuestion = isRequest(withoutMarks(sentence)) || /[?？]["'*_)”」]*$/.test(sentence);
  const isOffer = OPEN_OFFER.test(sentence) && !LACKS.test(text.slice(-QUESTION_CHARS * 2));
  if (!isQuestion || isOffer) return undefined;
  const question = withoutMarks(`${sentence.length < SHORT_QUESTION_CHARS ? `${before} ` : ''}${sentence}`.trim());
  return question.length > QUESTION_CHARS ? `…${question.slice(1 - QUESTION_CHARS)}`.toWellFormed() : question;
}
