const STEP_CHARS = 120;
const PARAGRAPH_CHARS = 600;

/** Work that follows at once. "I'll report when it ends" and "I'll exit" announce none. */
const WORK =
  '(?:add|adjust|analy[sz]e|append|apply|build|call|change|check|clean|clone|commit|configure|continue|convert|copy|correct|create|debug|delete|deploy|do|edit|examine|execute|explore|fetch|find|finish|fix|generate|get|go|grep|implement|import|inspect|install|integrate|investigate|list|look|make|merge|migrate|modify|move|open|optimi[sz]e|pull|push|put|query|re-?run|read|rebase|rebuild|refactor|remove|rename|replace|reproduce|restart|restore|retry|review|revert|rewrite|run|save|search|send|set|stage|start|stop the|switch|test|trace|try|update|upgrade|use|validate|verify|view|write)';
const FIRST = '(?:(?:now|next|then|first|second|third|finally|okay|ok|alright|great|good|perfect|so|and)[,:!.]? )*';
const ANNOUNCES: readonly RegExp[] = [
  new RegExp(
    `^${FIRST}(?:let me|let['’]s|I['’]ll|I will|I['’]m (?:now )?going to|I am (?:now )?going to)(?: (?:now|first|next|also|just|quickly|go ahead and|start by|begin by|start with|begin with))* ${WORK}\\b`,
    'i',
  ),
  new RegExp(`^(?:now|next)[,:]? (?:I )?(?:need to |have to )?${WORK}\\b.*:$`, 'i'),
  /^(?:(?:Maintenant|Ensuite|Puis|Bien),? )?(?:je vais|laissez-moi|laisse-moi) (?!vous |te |attendre|m['’]arrêter)/i,
  /^(?:(?:Ahora|Luego|Bien),? )?(?:voy a|déjame|permíteme) (?!esperar|detener)/i,
  /^(?:(?:Agora|Em seguida|Bem),? )?(?:vou|deixe-me) (?!aguardar|esperar|parar)/i,
  /^(?:(?:Jetzt|Nun|Als Nächstes|Zuerst) (?:werde ich|führe ich|prüfe ich|lese ich|schreibe ich)|Ich werde (?:jetzt|nun|als Nächstes)|Lass(?:en Sie)? mich)\b/i,
  /^(?:(?:现在|接下来|下面|首先|然后)[，,]?)?(?:让我|我来|我将|我会|我现在|我先)(?!等|停|们|知道)/,
];
/** The step waits for a person or for something else, or is no step. */
const DEPENDS =
  /[?？]|\b(?:please|confirm\w*|approv\w+|reply|let me know|tell me|if|once|when|whenever|until|unless|after you|ready|waiting|await\w*|would you|next (?:time|session)|tomorrow|in (?:the )?future|automatically|as instructed|s['’]il|si|quand|dès que|lorsque|cuando|quando|se você|aguard\w+|wenn|falls|sobald|bitte)\b|如果|若|等待|等你|等您|请|確認|确认|以后|下次|之后会/i;

/** The step that the last sentence of a message plainly announces, at most 120 characters. Undefined for any other end. */
export function announcedStep(message: string): string | undefined {
  const text = message.trimEnd();
  const paragraph = text.slice(Math.max(text.lastIndexOf('\n\n') + 1, text.length - PARAGRAPH_CHARS));
  const plain = paragraph.replaceAll(/[*`#>]/g, '').trim();
  const sentence = plain
    .split(/(?<=[.!?:]["')]?) +(?=\p{Lu}|\p{Lo})|(?<=[。！？])|\n+/u)
    .findLast((one) => one.trim() !== '')
    ?.trim();
  if (sentence === undefined || DEPENDS.test(plain) || !ANNOUNCES.some((form) => form.test(sentence))) return undefined;
  const step = sentence.replace(/[\s.:。：]+$/u, '');
  return step.length > STEP_CHARS ? `${step.slice(0, STEP_CHARS - 1).toWellFormed()}…` : step;
}
