"use strict";
// Numbers: unpacking of arrays, and mathematical functions that JavaScript lacks.

const LOG_2PI = Math.log(2 * Math.PI);

// How the numbers of packed arrays are read: the name of the type, its bytes, and the method of DataView.
const NUMBER_TYPES = [["f64", 8, "getFloat64"], ["u8", 1, "getUint8"], ["u16", 2, "getUint16"], ["u32", 4, "getUint32"]];

const isPacked = (its) => Boolean(its && its.shape && NUMBER_TYPES.some(([name]) => its[name] !== undefined));

/** Return bytes that were compressed by zlib. */
async function decompress(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Decode the bytes of all packed arrays {type, shape} within an object, in place. */
async function decodeArrays(its) {
  if (!its || typeof its !== "object") return;
  if (!isPacked(its)) await Promise.all(Object.values(its).map(decodeArrays));
  else {
    const [name] = NUMBER_TYPES.find(([name]) => its[name] !== undefined);
    const bytes = Uint8Array.from(atob(its[name]), (letter) => letter.charCodeAt(0));
    its[name] = its.compressed ? await decompress(bytes) : bytes;
  }
}

/** Return the numbers of a packed array whose bytes are decoded as one array, row by row. */
function unpack(pack) {
  const [name, size, method] = NUMBER_TYPES.find(([name]) => pack[name] !== undefined);
  const view = new DataView(pack[name].buffer);
  const numbers = new Float64Array(pack[name].length / size);
  for (let i = 0; i < numbers.length; i++) numbers[i] = view[method](size * i, true);
  return numbers;
}

/** Return an object with all its packed arrays unpacked. */
const unpackAll = (its) => Object.fromEntries(Object.entries(its).map(([name, value]) => [name, isPacked(value) ? unpack(value) : value]));

/** Return log Γ(x) for x > 0, by Stirling's series at a larger x, where it is accurate. */
function logGamma(x) {
  let shift = 0;
  while (x < 12) {
    shift -= Math.log(x);
    x += 1;
  }
  const y = 1 / (x * x);
  const series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x;
  return shift + (x - 0.5) * Math.log(x) - x + LOG_2PI / 2 + series;
}

/** Return log Γ(a + x) − log Γ(a), accurate even if a is large. */
function logRising(a, x) {
  if (x === 0) return 0;
  if (a <= 1e4) return logGamma(a + x) - logGamma(a);
  return (a + x - 0.5) * Math.log1p(x / a) + x * Math.log(a) - x + (1 / (a + x) - 1 / a) / 12;
}

/** Return log Σ e^x. */
function logSumExp(values) {
  const highest = Math.max(...values);
  if (!Number.isFinite(highest)) return highest;
  return highest + Math.log(values.reduce((sum, value) => sum + Math.exp(value - highest), 0));
}

/** Return x − log Σ e^x: log probabilities whose exponentials sum to 1. */
function logSoftmax(values) {
  const whole = logSumExp(values);
  return values.map((value) => value - whole);
}

/** Return L with L·Lᵀ = Σ as the rows of a lower triangle; ``sigma(i, j)`` returns the entries of Σ. */
function cholesky(sigma, size) {
  const lower = [];
  for (let i = 0; i < size; i++) {
    const line = new Float64Array(i + 1);
    for (let j = 0; j <= i; j++) {
      let sum = sigma(i, j);
      for (let m = 0; m < j; m++) sum -= line[m] * (j === i ? line[m] : lower[j][m]);
      line[j] = j === i ? Math.sqrt(sum) : sum / lower[j][j];
    }
    lower.push(line);
  }
  return lower;
}

/** Return the value at x of a piecewise linear function given by its knots, constant outside of them. */
function interpolate(x, xs, ys) {
  if (x <= xs[0]) return ys[0];
  const last = xs.length - 1;
  if (x >= xs[last]) return ys[last];
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle;
    else high = middle;
  }
  return ys[low] + ((ys[high] - ys[low]) * (x - xs[low])) / (xs[high] - xs[low]);
}
