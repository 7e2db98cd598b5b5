// Strokes: a drawing becomes an image like those of the rows: as large, as dark, centred and straightened as they are.

const FINE = 4; // points per pixel, in each direction

/** Return the image of strokes [[x, y], …] with ink from 0 to 1 in each of side × side pixels. */
function strokeImage(strokes, side, drawing) {
  const box = boxOf(strokes.flat());
  // the pen is as wide as needed for the ink of a typical image
  let [thin, thick, image] = [0.3, side / 3, null];
  for (let step = 0; step < 8; step++) {
    const pen = (thin + thick) / 2;
    image = rasterize(placed(strokes, box, pen, side, drawing), pen, side);
    if (sum(image) < drawing.ink) thin = pen;
    else thick = pen;
  }
  return drawing.is_straight ? deskew(image, side) : image;
}

function boxOf(points) {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
}

/** Return strokes in pixels: scaled to the typical size, with their centre of mass or their box in the middle. */
function placed(strokes, box, pen, side, drawing) {
  const room = (size, length) => Math.max(size - pen, 0.5) / Math.max(length, 1e-6);
  const scale = Math.min(room(drawing.height, box.bottom - box.top), room(drawing.width, box.right - box.left), side * 50);
  const from = drawing.is_centred ? centreOfMass(strokes) : [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const to = drawing.is_centred ? [drawing.x, drawing.y] : [side / 2, side / 2];
  return strokes.map((stroke) => stroke.map((point) => point.map((value, axis) => (value - from[axis]) * scale + to[axis])));
}

/** Return the segments of a stroke; a dot is a segment without length. */
const segmentsOf = (stroke) => (stroke.length === 1 ? [[stroke[0], stroke[0]]] : stroke.slice(1).map((point, i) => [stroke[i], point]));

function centreOfMass(strokes) {
  const parts = strokes.flatMap(segmentsOf).map(([a, b]) => ({ weight: Math.hypot(b[0] - a[0], b[1] - a[1]) + 1e-9, middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] }));
  const whole = sum(parts.map(({ weight }) => weight));
  return [0, 1].map((axis) => sum(parts.map(({ weight, middle }) => weight * middle[axis])) / whole);
}

/** Return the share of each pixel that a pen covers. */
function rasterize(strokes, pen, side) {
  const fine = side * FINE;
  const isInk = new Uint8Array(fine * fine);
  for (const [a, b] of strokes.flatMap(segmentsOf)) {
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const length = dx * dx + dy * dy;
    const range = (low, high) => [Math.max(Math.floor((low - pen / 2) * FINE), 0), Math.min(Math.ceil((high + pen / 2) * FINE), fine - 1)];
    const [[left, right], [top, bottom]] = [range(Math.min(a[0], b[0]), Math.max(a[0], b[0])), range(Math.min(a[1], b[1]), Math.max(a[1], b[1]))];
    for (let i = top; i <= bottom; i++) {
      for (let j = left; j <= right; j++) {
        const [x, y] = [(j + 0.5) / FINE - a[0], (i + 0.5) / FINE - a[1]];
        const t = length ? Math.min(Math.max((x * dx + y * dy) / length, 0), 1) : 0;
        if (Math.hypot(x - t * dx, y - t * dy) <= pen / 2) isInk[i * fine + j] = 1;
      }
    }
  }
  const image = new Array(side * side).fill(0);
  isInk.forEach((ink, place) => (image[Math.floor(place / fine / FINE) * side + Math.floor((place % fine) / FINE)] += ink / FINE ** 2));
  return image;
}

/** Return an image without its slant, with its centre of mass in the middle, as suffice.images.deskew does. */
function deskew(image, side) {
  const mean = (weigh) => sum(image.map((ink, place) => ink * weigh(place % side, Math.floor(place / side)))) / sum(image);
  const moveDown = mean((_, y) => y) - (side - 1) / 2;
  image = transposed(moveLines(transposed(image, side), side, () => moveDown), side);
  const [x, y] = [mean((x) => x), mean((_, y) => y)];
  const slant = mean((px, py) => px * (py - y)) / Math.max(mean((_, py) => (py - y) ** 2), 1e-12);
  return moveLines(image, side, (line) => slant * (line - y) + x - (side - 1) / 2);
}

const transposed = (image, side) => image.map((_, place) => image[(place % side) * side + Math.floor(place / side)]);

/** Return an image whose lines are moved to the left by a number of pixels, which need not be whole. */
function moveLines(image, side, shift) {
  const pixel = (y, x) => (x >= 0 && x < side ? image[y * side + x] : 0);
  return image.map((_, place) => {
    const y = Math.floor(place / side);
    const [whole, part] = [Math.floor(shift(y)), shift(y) - Math.floor(shift(y))];
    return (1 - part) * pixel(y, (place % side) + whole) + part * pixel(y, (place % side) + whole + 1);
  });
}
