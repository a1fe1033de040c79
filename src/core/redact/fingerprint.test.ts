import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { createFingerprint } from './fingerprint.ts';
import { createRedactor } from './redactor.ts';

test('equal secrets read alike in every process of a user, different ones differently, and another user’s otherwise', async () => {
  const [mine, other] = [await tempFolder(), await tempFolder()];
  try {
    const env = { XDG_STATE_HOME: mine.path };
    const [one, again] = [createFingerprint({ env }), createFingerprint({ env })];
    expect(one('hunter2')).toMatch(/^[ghjkmnpqrstvwxyz]{10}$/);
    expect(again('hunter2')).toBe(one('hunter2'));
    expect(one('hunter3')).not.toBe(one('hunter2'));
    expect(createFingerprint({ env: { XDG_STATE_HOME: other.path } })('hunter2')).not.toBe(one('hunter2'));
    // Windows has no modes.
    const othersMay = process.platform === 'win32' ? 0 : 0o077;
    expect(statSync(join(mine.path, 'coxswain', 'redaction.key')).mode & othersMay).toBe(0);
  } finally {
    await mine.dispose();
    await other.dispose();
  }
});

test('without a usable state folder, fingerprints agree within the process', async () => {
  const folder = await tempFolder();
  try {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    chmodSync(file, 0o400);
    const fingerprint = createFingerprint({ env: { XDG_STATE_HOME: file } });
    expect(fingerprint('a')).toBe(fingerprint('a'));
    expect(fingerprint('a')).not.toBe(fingerprint('b'));
  } finally {
    await folder.dispose();
  }
});

test('values that changed stay different in content; words of the configuration carry no fingerprint', () => {
  const redactor = createRedactor({}, { fingerprint: (secret) => (secret === 'hunter2' ? 'gg' : 'hh') });
  const call = { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'b', is_error: false } as const;
  expect(redactor.redact({ ...call, result: { password: 'hunter2', text: 'password=hunter3' } })).toEqual({
    ...call,
    result: { password: '[REDACTED:named-secret:gg]', text: 'password=[REDACTED:named-secret:hh]' },
  });
  const failed = {
    kind: 'provider_failed',
    cause_seq: 0,
    ordinal: 0,
    provider_name: 'a',
    phase: '',
    code: '',
  } as const;
  expect(redactor.redact({ ...failed, message: 'password=hunter2' })).toEqual({
    ...failed,
    message: 'password=[REDACTED:named-secret]',
  });
});
