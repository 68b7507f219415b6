const K = constants(64, (prime) => Math.cbrt(prime));
const START = constants(8, (prime) => Math.sqrt(prime));

/** The first 32 bits of the fractions of the roots of the first primes. */
function constants(count: number, root: (prime: number) => number): Uint32Array {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n += 1) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return Uint32Array.from(primes, (prime) => ((root(prime) % 1) * 2 ** 32) >>> 0);
}

const rotate = (word: number, by: number) => (word >>> by) | (word << (32 - by));

/** SHA-256 in hexadecimal. The browser's own is there over HTTPS only, and answers later. */
export function sha256(text: string): string {
  const given = new TextEncoder().encode(text);
  const bytes = new Uint8Array(Math.ceil((given.length + 9) / 64) * 64);
  bytes.set(given);
  bytes[given.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(bytes.length - 8, Math.floor(given.length / 2 ** 29));
  view.setUint32(bytes.length - 4, (given.length << 3) >>> 0);
  const state = Uint32Array.from(START);
  const w = new Uint32Array(64);
  const at = (words: Uint32Array, index: number) => words[index] as number;
  for (let block = 0; block < bytes.length; block += 64) {
    for (let i = 0; i < 16; i += 1) w[i] = view.getUint32(block + i * 4);
    for (let i = 16; i < 64; i += 1) {
      const [a, b] = [at(w, i - 15), at(w, i - 2)];
      w[i] = at(w, i - 16) + (rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)) + at(w, i - 7) + (rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i += 1) {
      const one = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + at(K, i) + at(w, i)) | 0;
      const two = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, index) => {
      state[index] = at(state, index) + word;
    });
  }
  return [...state].map((word) => word.toString(16).padStart(8, "0")).join("");
}
