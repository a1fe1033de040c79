import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { html, htmlText } from './html.ts';

test('an untrusted text is free of HTML special characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
      expect(htmlText(html`${text}`)).not.toMatch(/[<>"'\u0000\u202e]|&(?!(?:amp|lt|gt|quot|#39);)/);
    }),
  );
});

test('HTML is not escaped again, a list is joined, and undefined is empty', () => {
  const items = ['a & b', html`<b>${'<i>'}</b>`, undefined, 7];
  expect(htmlText(html`<p>${items}</p>`)).toBe('<p>a &amp; b<b>&lt;i&gt;</b>7</p>');
});

test('an object of a recording cannot pass as HTML', () => {
  const forged = JSON.parse('{"html":"<script>","Symbol(html)":"<script>"}') as unknown as string[];
  expect(() => html`${forged}`).toThrow('map is not a function');
});
