import { createServer, type AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { expect, onTestFinished, test } from 'vitest';

import { useStoresFolder } from './cli-stores.ts';
import { sampleRun, type CliResult } from './run-cli.ts';

const here = useStoresFolder();
const SECRET = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;

interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
}

/** A mail server that collects what it accepts. */
async function mailServer(options: SMTPServerOptions): Promise<{ readonly port: number; readonly mails: Mail[] }> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    ...options,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        mails.push({ from, to: rcptTo.map(({ address }) => address), text: Buffer.concat(chunks).toString() });
        done();
      });
    },
  });
  // A client that refuses the certificate breaks the connection: an error of the server too.
  server.on('error', () => {});
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { mails, port: portOf(server.server.address()) };
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function sent(smtp: string): Promise<CliResult> {
  await writeFile(join(here.cwd, 'run.json'), sampleRun(`with ${SECRET}`, 'stuck'));
  const env = { COXSWAIN_SMTP: smtp, COXSWAIN_MAIL_FROM: 'coxswain <bot@example.org>' };
  return here.run(['report', 'run.json', '--to', 'mailto:me@example.org'], { env });
}

function refusal(why: string): CliResult {
  return {
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(`^coxswain: the report was not sent to me@example.org: ${why}\n$`),
  };
}

test('a report is mailed through the server in COXSWAIN_SMTP with its user and password', async () => {
  const users: string[] = [];
  const { mails, port } = await mailServer({
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    onAuth({ password, username }, _session, done) {
      users.push(`${username}:${password}`);
      done(null, { user: username });
    },
  });
  expect(await sent(`smtp://ann:pass-1@127.0.0.1:${port}`)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(users).toEqual(['ann:pass-1']);
  expect(mails).toMatchObject([{ from: 'bot@example.org', to: ['me@example.org'] }]);
  const text = mails[0]?.text ?? '';
  expect(text).toContain('Subject: coxswain: 1 run');
  expect(text).toContain('Content-Type: text/plain');
  expect(text).toContain('Content-Type: text/html');
  expect(text).not.toContain(SECRET);
});

test('a wrong password is one line without the password, and exit code 1', async () => {
  const { mails, port } = await mailServer({
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(new Error('no such user')),
  });
  const result = await sent(`smtp://ann:pass-1@127.0.0.1:${port}`);
  expect(result).toEqual(refusal('Invalid login: 535 no such user'));
  expect(mails).toEqual([]);
});

test('an invalid certificate is refused, with and without STARTTLS', async () => {
  for (const secure of [true, false]) {
    const { mails, port } = await mailServer({ secure, authOptional: true });
    expect(await sent(`${secure ? 'smtps' : 'smtp'}://127.0.0.1:${port}`)).toEqual(refusal('.*certificate.*'));
    expect(mails).toEqual([]);
  }
});

test('a server without the TLS asked for, or that refuses the recipient, is one line', async () => {
  const { mails, port } = await mailServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    onRcptTo: (_address, _session, done) => done(new Error('no such mailbox')),
  });
  expect(await sent(`smtps://127.0.0.1:${port}`)).toEqual(refusal('.*wrong version number.*'));
  expect(await sent(`smtp://127.0.0.1:${port}?requireTLS=true`)).toEqual(refusal('.*STARTTLS.*'));
  expect(await sent(`smtp://127.0.0.1:${port}`)).toEqual(refusal('.*no such mailbox.*'));
  expect(mails).toEqual([]);
});

test('a server that never answers fails after the time limit', async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  expect(await sent(`smtp://127.0.0.1:${portOf(server.address())}?greetingTimeout=100`)).toEqual(
    refusal('Greeting never received'),
  );
});

test('a mail server address that cannot be parsed is one line without the password', async () => {
  for (const smtp of ['smtp://ann:pass-1@[', 'mail.example.org']) {
    const result = await sent(smtp);
    expect(result).toEqual(refusal('COXSWAIN_SMTP is not the address of a mail server.*'));
    expect(result.stderr).not.toContain('pass-1');
  }
});
