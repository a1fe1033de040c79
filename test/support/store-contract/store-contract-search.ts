import { present } from '../../../src/core/base/json.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../../src/core/records/trajectory-record.ts';
import type { SearchHit, SearchPage, SearchQuery, TrajectoryStore } from '../../../src/core/store/trajectory-store.ts';
import type { StoreContractCase } from './contract-store.ts';
import { scriptRecord, scriptRun } from '../script-records.ts';

export function searchContract({ test, expect }: StoreContractCase): void {
  test('a record is found when its text holds every word, in any order and case', async ({ store }) => {
    await store.append(textRecords('a', ['the quick brown fox', 'the lazy dog', 'Brown bread', 'brownish, quickly']));
    expect(await foundPlaces(store, 'brown')).toEqual(['a/2', 'a/0']);
    expect(await foundPlaces(store, 'QUICK the')).toEqual(['a/0']);
    expect(await foundPlaces(store, 'the  the')).toEqual(['a/1', 'a/0']);
    expect(await foundPlaces(store, 'brown dog')).toEqual([]);
    expect(await foundPlaces(store, 'row')).toEqual([]);
  });

  test('quoted words match only together, and so do the parts of a word with punctuation inside', async ({ store }) => {
    await store.append(
      textRecords('a', [
        'open src/store/a.ts now',
        'a.ts in src, of the store',
        'read_file then file read',
        'no space left on device',
        'space was left, on a device',
      ]),
    );
    expect(await foundPlaces(store, 'src/store')).toEqual(['a/0']);
    expect(await foundPlaces(store, 'src store')).toEqual(['a/1', 'a/0']);
    expect(await foundPlaces(store, '"file read"')).toEqual(['a/2']);
    expect(await foundPlaces(store, 'read_file')).toEqual(['a/2']);
    expect(await foundPlaces(store, '"left on" space')).toEqual(['a/4', 'a/3']);
    expect(await foundPlaces(store, '"space left on device"')).toEqual(['a/3']);
    expect(await foundPlaces(store, '"space left" "on device"')).toEqual(['a/3']);
  });

  test('every string of a payload is searched, at any depth; keys, numbers and the kind are not', async ({ store }) => {
    const args = { path: 'deepest.txt', nested: [{ needle: 'haystack', size: 4711 }] };
    const payloads: readonly TrajectoryPayload[] = [
      { kind: 'tool_started', tool_call_id: 'call7', tool_name: 'grep', args },
      { kind: 'tool_ended', tool_call_id: 'call7', tool_name: 'grep', result: 'fine\ntwo lines', is_error: false },
      { kind: 'unrecognised', original: { kind: 'novelty', says: ['something new'] } },
    ];
    await store.append(scriptRun('a', payloads));
    expect(await foundPlaces(store, 'haystack deepest')).toEqual(['a/0']);
    expect(await foundPlaces(store, 'grep call7')).toEqual(['a/1', 'a/0']);
    expect(await foundPlaces(store, 'lines')).toEqual(['a/1']);
    expect(await foundPlaces(store, 'something')).toEqual(['a/2']);
    for (const text of ['needle', '4711', 'tool_started', 'args', 'novelty']) {
      expect(await foundPlaces(store, text)).toEqual([]);
    }
  });

  test('a search can be limited to a run and to kinds', async ({ store }) => {
    await store.append(textRecords('a', ['word one', 'word two']));
    await store.append(textRecords('b', ['word three']));
    await store.append([
      scriptRecord({ runId: 'b', seq: 1, payload: { kind: 'gap', through_seq: 3, reason: 'word four' } }),
      scriptRecord({
        runId: 'b',
        seq: 4,
        payload: { kind: 'unrecognised', original: { kind: 'novelty', says: 'word five' } },
      }),
    ]);
    expect(await foundPlaces(store, 'word', { runId: 'a' })).toEqual(['a/1', 'a/0']);
    expect(await foundPlaces(store, 'word', { kinds: ['gap'] })).toEqual(['b/1']);
    expect(await foundPlaces(store, 'word', { kinds: ['gap', 'novelty'] })).toEqual(['b/4', 'b/1']);
    expect(await foundPlaces(store, 'word', { runId: 'a', kinds: ['gap'] })).toEqual([]);
    for (const filter of [{ kinds: [] }, { kinds: ['no such'] }, { runId: 'no such' }, { runId: '\ud800' }]) {
      expect(await foundPlaces(store, 'word', filter)).toEqual([]);
    }
  });

  test('a hit has its place and the text around the first word', async ({ store }) => {
    const text = `${'before '.repeat(100)}Needle😀 ${'after😀 '.repeat(100)}`;
    await store.append([
      scriptRecord({ runId: 'a', seq: 0, atMs: 77.5, payload: { kind: 'compaction', trigger: text } }),
    ]);
    await store.append(textRecords('b', ['short needle']));
    const { hits } = await searchIndexed(store, { text: 'needle' });
    expect(hits[1]).toMatchObject({ runId: 'a', seq: 0, atMs: 77.5, kind: 'compaction' });
    expect(hits[0]?.snippet).toBe('short needle');
    const snippet = hits[1]?.snippet ?? '';
    expect(snippet).toContain('before Needle😀 after');
    expect(snippet.length).toBeGreaterThan(150);
    expect(snippet.length).toBeLessThanOrEqual(200);
    expect(text).toContain(snippet);
    expect(snippet.isWellFormed()).toBe(true);
  });

  test('hits are ordered latest first, then by run and highest seq, whatever the page size', async ({ store }) => {
    const addHits = async (runId: string, times: readonly number[]): Promise<void> => {
      await store.append(
        times.map((atMs, seq) =>
          scriptRecord({ runId, seq, atMs, payload: { kind: 'compaction', trigger: `word ${seq}` } }),
        ),
      );
    };
    await addHits('b', [10, 30, 20, 30]);
    await addHits('\uffff', [20, 5]);
    await addHits('😀', [20.25, 20]);
    await addHits('a', [30, 0]);
    const order = ['a/0', 'b/3', 'b/1', '😀/0', 'b/2', '\uffff/0', '😀/1', 'b/0', '\uffff/1', 'a/1'];
    for (const limit of [1, 2, 3, 9, 10, 11]) {
      const hits: SearchHit[] = [];
      let cursor: string | undefined;
      do {
        const page = await searchIndexed(store, { text: 'word', limit, ...present({ after: cursor }) });
        expect(page.hits.length).toBeLessThanOrEqual(limit);
        hits.push(...page.hits);
        cursor = page.next;
      } while (cursor !== undefined);
      expect(hits.map(placeOf)).toEqual(order);
    }
  });

  test('records that arrive between pages neither repeat nor hide a hit', async ({ store }) => {
    await store.append(textRecords('a', ['word', 'word', 'word', 'word']));
    const first = await searchIndexed(store, { text: 'word', limit: 2 });
    await store.append(textRecords('a', ['word', 'word'], 4));
    await store.append([
      scriptRecord({ runId: 'b', seq: 0, atMs: 1001.5, payload: { kind: 'compaction', trigger: 'late word' } }),
    ]);
    const secondPage = await searchIndexed(store, { text: 'word', ...present({ after: first.next }) });
    expect([...first.hits, ...secondPage.hits].map(placeOf)).toEqual(['a/3', 'a/2', 'b/0', 'a/1', 'a/0']);
    expect(secondPage.next).toBeUndefined();
  });

  test('words of every script are found', async ({ store }) => {
    const lines = [
      'Größe ÄNDERN',
      'Привет, МИР',
      '磁盘空间不足',
      'ディスクが一杯です',
      'deſt ﬁle ½',
      'cafe\u0301 crème',
      'हिन्दी पाठ',
      '\ud800 lone \udc00pair',
      'nul\0separates',
    ];
    await store.append(textRecords('a', lines));
    const cases: readonly (readonly [string, string])[] = [
      ['größe ändern', 'a/0'],
      ['"привет мир"', 'a/1'],
      ['空间', 'a/2'],
      ['"磁盘" 不足', 'a/2'],
      ['ディスク', 'a/3'],
      ['FILE', 'a/4'],
      ['CAFÉ', 'a/5'],
      ['हिन्दी', 'a/6'],
      ['"lone pair"', 'a/7'],
      ['"nul separates"', 'a/8'],
    ];
    for (const [text, place] of cases) expect([text, await foundPlaces(store, text)]).toEqual([text, [place]]);
    for (const text of ['grosse', '盘磁', 'cafe', 'мирный'])
      expect([text, await foundPlaces(store, text)]).toEqual([text, []]);
  });

  test('quotes are the only query syntax: operators, wildcards and SQL are words or are ignored', async ({ store }) => {
    await store.append(textRecords('a', ['alpha beta', 'alpha and near not or beta', "it's 100% x' OR 1=1; --"]));
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['alpha AND beta', ['a/1']],
      ['alpha NOT beta', ['a/1']],
      ['alpha OR gamma', []],
      ['NEAR(alpha beta)', []],
      ['NEAR (alpha beta)', ['a/1']],
      ['alp*', []],
      ['alpha*', ['a/1', 'a/0']],
      ['^alpha', ['a/1', 'a/0']],
      ['text:alpha', []],
      ['-alpha +beta', ['a/1', 'a/0']],
      ['"alpha', ['a/1', 'a/0']],
      ['alpha"beta', ['a/1', 'a/0']],
      ['alpha "" beta', ['a/1', 'a/0']],
      ['(alpha', ['a/1', 'a/0']],
      ["' OR 1=1; --", ['a/2']],
      ["it's", ['a/2']],
      ['100%', ['a/2']],
      ['alpha & beta | !(gamma)', []],
      ['alpha <-> beta', ['a/1', 'a/0']],
      ['\0alpha\0', ['a/1', 'a/0']],
      ['al\\pha', []],
    ];
    for (const [text, places] of cases) {
      expect([text, await foundPlaces(store, text)]).toEqual([text, places]);
    }
    for (const text of ['', ' ', '"', '""', '*', '%', '-- ;', '😀', 'a'.repeat(1001)]) {
      await expect(store.search({ text })).rejects.toMatchObject({ code: 'invalid-argument' });
    }
    const manyWords = Array.from({ length: 300 }, (_, index) => `w${index % 10}`).join(' ');
    expect(await foundPlaces(store, manyWords)).toEqual([]);
    expect(await foundPlaces(store, `"${manyWords}"`)).toEqual([]);
  });

  test('a long word matches by its first 64 characters, and a long text is searched to its end', async ({ store }) => {
    const blob = 'QUJD'.repeat(5000);
    await store.append(textRecords('a', [`${blob} ${'filler '.repeat(100_000)} zebra`]));
    expect(await foundPlaces(store, 'zebra')).toEqual(['a/0']);
    expect(await foundPlaces(store, 'qujd'.repeat(20))).toEqual(['a/0']);
    expect(await foundPlaces(store, 'qujd'.repeat(10))).toEqual([]);
  });

  test('a page has 50 hits by default, and its size and cursor are validated', async ({ store }) => {
    await store.append(textRecords('a', Array<string>(51).fill('word')));
    const page = await searchIndexed(store, { text: 'word' });
    expect(page.hits).toHaveLength(50);
    for (const limit of [0, -1, 1.5, 1001, Number.NaN]) {
      await expect(store.search({ text: 'word', limit })).rejects.toMatchObject({ code: 'invalid-argument' });
    }
    const runPlace = Buffer.from('[1,"a"]').toString('base64url');
    for (const after of ['', 'x', '!', `${page.next ?? ''}x`, (page.next ?? '').slice(1), runPlace]) {
      await expect(store.search({ text: 'word', after })).rejects.toMatchObject({ code: 'invalid-argument' });
    }
  });

  test('a search finds nothing in an empty store, and finds records that are appended later', async ({
    store,
    reopen,
  }) => {
    expect(await store.search({ text: 'word' })).toEqual({ hits: [], notIndexed: 0 });
    await store.append(textRecords('a', ['word']));
    expect(await foundPlaces(store, 'word')).toEqual(['a/0']);
    await store.transact('a', (view) => ({ records: textRecords('a', ['word'], view.nextSeq), result: 0 }));
    await store.append(textRecords('a', ['word', 'word'], 1));
    expect(await foundPlaces(store, 'word')).toEqual(['a/2', 'a/1', 'a/0']);
    const reopened = reopen === undefined ? store : await reopen();
    expect(await foundPlaces(reopened, 'word')).toEqual(['a/2', 'a/1', 'a/0']);
  });
}

/** Creates the records of a run. Each record contains one text. */
function textRecords(runId: string, lines: readonly string[], fromSeq = 0): readonly TrajectoryRecord[] {
  return scriptRun(
    runId,
    lines.map((trigger) => ({ kind: 'compaction', trigger })),
    { fromSeq },
  );
}

/** Returns the search page once all stored records are indexed. */
async function searchIndexed(store: TrajectoryStore, query: SearchQuery): Promise<SearchPage> {
  let page = await store.search(query);
  const end = Date.now() + 120_000;
  while (page.notIndexed > 0 && Date.now() < end) {
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
    page = await store.search(query);
  }
  if (page.notIndexed > 0) throw new Error(`${page.notIndexed} records are still not indexed`);
  return page;
}

async function foundPlaces(
  store: TrajectoryStore,
  text: string,
  filter: Omit<SearchQuery, 'text'> = {},
): Promise<readonly string[]> {
  return (await searchIndexed(store, { text, ...filter })).hits.map(placeOf);
}

function placeOf(hit: SearchHit): string {
  return `${hit.runId}/${hit.seq}`;
}
