import { isJsonObject } from '../../core/base/json.ts';

export interface ShownPicture {
  readonly mediaType: unknown;
  /** Base64 text, a `CutText` if it was truncated, or the number of `bytes` if only that is known. */
  readonly data: unknown;
}

/** Recognises the picture formats of stored messages, Anthropic, MCP and OpenAI. */
export function pictureOf(block: unknown): ShownPicture | undefined {
  if (!isJsonObject(block)) return undefined;
  const { data, data_base64: stored, image_url: link, media_type: type, mimeType, source } = block;
  if (stored !== undefined && type !== undefined) return { mediaType: type, data: stored };
  if (isJsonObject(source) && source['data'] !== undefined)
    return { mediaType: source['media_type'], data: source['data'] };
  if (block['type'] === 'image' && data !== undefined) return { mediaType: mimeType, data };
  const url = isJsonObject(link) ? link['url'] : link;
  const parts = typeof url === 'string' ? /^data:([\w/+.-]+);base64,(.*)$/s.exec(url) : null;
  return parts === null ? undefined : { mediaType: parts[1], data: parts[2] };
}
