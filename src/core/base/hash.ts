/**
 * Multiply-rotate lanes over pairs of UTF-16 units with the mixing constants of MurmurHash3 and xxHash. Not for
 * security; a collision among n texts has a chance of about n² / 2⁶⁵. Cost: less than `JSON.stringify` of the same
 * text.
 */
export function hashText(text: string, seed = 0): string {
  const high = mixText(text, seed);
  return hexText(high, lowWord);
}

/** 48 bits take six bytes in a SQLite row. A change within one pair of units always changes the 64-bit hash. */
export function hashNumber(text: string, seed = 0): number {
  const high = mixText(text, seed);
  return (high & 0xffff) * 2 ** 32 + (lowWord >>> 0);
}

/** The second word of the last `mixText`. It is a module variable, because returning a pair would allocate. */
let lowWord = 0;

function mixText(text: string, seed: number): number {
  const length = text.length;
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ seed;
  let highOdd = 0x165667b1 ^ seed;
  let lowOdd = 0x52dce729 ^ seed;
  let index = 0;
  // Reads two pairs per iteration. The lanes do not depend on each other, so the processor computes them in parallel. A
  // product carries bits upwards only, and the rotation moves them down again.
  for (const end = length - 3; index < end; index += 4) {
    const evenUnits = text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16);
    const oddUnits = text.charCodeAt(index + 2) | (text.charCodeAt(index + 3) << 16);
    high = Math.imul(high ^ evenUnits, 0x9e3779b1);
    low = Math.imul(low ^ evenUnits, 0x5f356495);
    highOdd = Math.imul(highOdd ^ oddUnits, 0x85ebca77);
    lowOdd = Math.imul(lowOdd ^ oddUnits, 0x27d4eb2f);
    high = (high << 13) | (high >>> 19);
    low = (low << 15) | (low >>> 17);
    highOdd = (highOdd << 13) | (highOdd >>> 19);
    lowOdd = (lowOdd << 15) | (lowOdd >>> 17);
  }
  for (; index < length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
    high = (high << 13) | (high >>> 19);
    low = (low << 15) | (low >>> 17);
  }
  high = finishMix(high ^ Math.imul(highOdd, 0xc2b2ae35) ^ length);
  low = finishMix(low ^ Math.imul(lowOdd, 0x85ebca6b) ^ length);
  high = finishMix(high ^ low);
  lowWord = finishMix(low ^ Math.imul(high, 0xc2b2ae3d));
  return high;
}

function finishMix(value: number): number {
  let mixed = value;
  mixed ^= mixed >>> 16;
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** Formats all digits at once. `toString(16)` with padding takes as long as hashing 100 characters. */
function hexText(high: number, low: number): string {
  return String.fromCharCode(
    digitUnit(high >>> 28),
    digitUnit((high >>> 24) & 15),
    digitUnit((high >>> 20) & 15),
    digitUnit((high >>> 16) & 15),
    digitUnit((high >>> 12) & 15),
    digitUnit((high >>> 8) & 15),
    digitUnit((high >>> 4) & 15),
    digitUnit(high & 15),
    digitUnit(low >>> 28),
    digitUnit((low >>> 24) & 15),
    digitUnit((low >>> 20) & 15),
    digitUnit((low >>> 16) & 15),
    digitUnit((low >>> 12) & 15),
    digitUnit((low >>> 8) & 15),
    digitUnit((low >>> 4) & 15),
    digitUnit(low & 15),
  );
}

function digitUnit(value: number): number {
  return value < 10 ? 48 + value : 87 + value;
}
