import { safeText } from '../base/shown-text.ts';

const SAFE: unique symbol = Symbol('html');

/** HTML made by `html`: every text in it is escaped. Other code cannot make one, not even from parsed JSON. */
export interface Html {
  readonly [SAFE]: string;
}

/** A value in a template: text is escaped, HTML is kept, `undefined` is empty, a list is joined. */
export type HtmlValue = string | number | Html | undefined | readonly HtmlValue[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * A template of HTML. Untrusted texts are safe anywhere, including quoted attributes: they pass `safeText`, then `&`, `<`, `>` and both
 * quotation marks are escaped.
 */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = template[0] ?? '';
  for (const [index, value] of values.entries()) text += escaped(value) + (template[index + 1] ?? '');
  return { [SAFE]: text };
}

/** The text of HTML, to write it. */
export function htmlText(part: Html): string {
  return part[SAFE];
}

/** A `style` element, in which browsers read no entities. @param css  trusted, without `<` */
export function styleElement(css: string): Html {
  return { [SAFE]: `<style>${css}</style>` };
}

function escaped(value: HtmlValue): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return safeText(value).replaceAll(/[&<>"']/g, (mark) => ENTITIES[mark] ?? '');
  return SAFE in value ? value[SAFE] : value.map(escaped).join('');
}
