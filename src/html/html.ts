import { safeText } from '../base/shown-text.ts';

const SAFE: unique symbol = Symbol('html');

/** HTML that `html` made: every text in it is escaped. No other code can make one, not even from parsed JSON. */
export interface Html {
  readonly [SAFE]: string;
}

/** What may stand in a template: text and numbers are escaped, HTML stays, `undefined` is nothing, a list is its items. */
export type HtmlValue = string | number | Html | undefined | readonly HtmlValue[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * A template of HTML. Texts may come from anywhere and stand anywhere, also in a quoted attribute: they pass `safeText`, then
 * `&`, `<`, `>` and both quotation marks are escaped.
 *
 * Cost: linear in the length of what it makes.
 */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = template[0] ?? '';
  for (const [index, value] of values.entries()) text += escaped(value) + (template[index + 1] ?? '');
  return { [SAFE]: text };
}

/** The bytes of a page or of a part of one: for writing it out. */
export function htmlText(made: Html): string {
  return made[SAFE];
}

/** A style sheet as the content of a `style` element, where the browser reads no entities. @param css  ours, no `<` in it */
export function styleElement(css: string): Html {
  return { [SAFE]: `<style>${css}</style>` };
}

function escaped(value: HtmlValue): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return safeText(value).replaceAll(/[&<>"']/g, (mark) => ENTITIES[mark] ?? '');
  return SAFE in value ? value[SAFE] : value.map(escaped).join('');
}
