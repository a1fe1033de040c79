import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { commandTarget, desktopTarget, webhookTarget } from '../src/hosts/notify/webhook-target.ts';
import { testFolder } from './support/test-folder.ts';

/** Texts of a task, a question or an error, as an attacker writes them. */
const HOSTILE = [
  '$(touch ran) `touch ran` ; touch ran #',
  `'; touch ran; '`,
  `"; touch ran; "`,
  '| touch ran & touch ran\ntouch ran\r\ntouch ran',
  '--help -c touch ran',
  '${IFS}touch${IFS}ran %PATH% !x',
  '<!channel> <@U123> <https://evil.example|click> &amp; *bold* @everyone @here [x](https://evil.example)',
  '\u202ereversed {"text":"other"} </script>',
];

test.each(HOSTILE)(
  'a command gets %j as data, on standard input and in a variable, and a shell runs none of it',
  async (text) => {
    const folder = testFolder();
    const out = join(folder, 'out');
    const notification = { event: 'stuck', run: text, message: text } as const;
    const programs = [
      `cd '${folder}' && printf '%s|%s|' "$COXSWAIN_MESSAGE" "$COXSWAIN_RUN" > out && cat >> out`,
      ['sh', '-c', 'cd "$0" && printf "%s|%s|" "$COXSWAIN_MESSAGE" "$COXSWAIN_RUN" > out && cat >> out', folder],
    ] as const;
    for (const program of programs) {
      expect(await commandTarget(program).send(notification)).toBeUndefined();
      expect(readFileSync(out, 'utf8')).toBe(`${text}|${text}|${JSON.stringify(notification)}\n`);
      expect(existsSync(join(folder, 'ran'))).toBe(false);
    }
  },
);

test('a desktop program gets the text as one argument after its options, with markup escaped', async () => {
  const folder = testFolder();
  const { PATH = '' } = process.env;
  const program = join(folder, 'notify-send');
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\0' "$@" > '${folder}/out'\n`);
  chmodSync(program, 0o755);
  process.env['PATH'] = `${folder}:${PATH}`;
  onTestFinished(() => void (process.env['PATH'] = PATH));
  for (const text of HOSTILE) {
    await desktopTarget('linux').send({ event: 'stuck', run: 'r', message: text });
    const args = readFileSync(join(folder, 'out'), 'utf8').split('\0').slice(0, -1);
    expect(args.slice(0, 3)).toEqual(['--app-name=coxswain', '--', 'coxswain']);
    expect(args).toHaveLength(4);
    expect(args[3]).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
  }
});

/** Forms of webhooks, and the body for a text. */
const FORMS = [
  ['json', (text: string): string => JSON.stringify({ event: 'stuck', run: 'r', message: text })],
  ['ntfy', (text: string): string => `coxswain: ${text}`],
  ['slack', (text: string): string => JSON.stringify({ text: `coxswain: ${asSlackReads(text)}` })],
] as const;

/** The three characters of Slack's markup, as its documentation says. */
function asSlackReads(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A server that keeps what it gets. */
async function webhook(): Promise<{ readonly url: string; readonly bodies: readonly string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      bodies.push(body);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  // It listens on a port, not on a pipe.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/key`, bodies };
}

test.each(FORMS)('a webhook of the form %s gets a text as one value, without markup', async (form, bodyOf) => {
  const { bodies, url } = await webhook();
  const target = webhookTarget(url, form);
  for (const message of HOSTILE) await target.send({ event: 'stuck', run: 'r', message });
  expect(bodies).toEqual(HOSTILE.map(bodyOf));
});

test('a webhook of Discord gets no mention, and every character of its markup escaped', async () => {
  const { bodies, url } = await webhook();
  const target = webhookTarget(url, 'discord');
  for (const message of HOSTILE) await target.send({ event: 'stuck', run: 'r', message });
  // The form that the target writes.
  const sent = bodies.map(
    (body) => JSON.parse(body) as { readonly content: string; readonly allowed_mentions: unknown },
  );
  expect(sent.map(({ allowed_mentions: mentions }) => mentions)).toEqual(HOSTILE.map(() => ({ parse: [] })));
  const unescaped = sent.map(({ content }) => content.replaceAll(/\\[^]/g, ''));
  expect(unescaped.filter((text) => /[<>@*[\]()`_~|]/.test(text))).toEqual([]);
});
