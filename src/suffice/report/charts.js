// Charts: lines over two shares from 0 to 100 %, and images of pixels.

const CHART = { size: 260, left: 40, top: 12, bottom: 40 };

/** Return where a point of a chart is; x and y are shares. */
const chartPoint = (x, y) => [CHART.left + x * CHART.size, CHART.top + (1 - y) * CHART.size];

/** Return a square chart of shares; ``parts`` are drawn on it. */
function shareChart(label, xTitle, yTitle, parts) {
  const { size, left, top, bottom } = CHART;
  const frame = [svg("rect", { x: left, y: top, width: size, height: size, class: "frame" })];
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    frame.push(svg("text", { x: chartPoint(tick, 0)[0], y: top + size + 14, "text-anchor": "middle" }, String(100 * tick)));
    frame.push(svg("text", { x: left - 5, y: chartPoint(0, tick)[1] + 3, "text-anchor": "end" }, String(100 * tick)));
  }
  frame.push(svg("text", { x: left + size / 2, y: top + size + 32, "text-anchor": "middle" }, xTitle));
  frame.push(svg("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(11 ${top + size / 2}) rotate(-90)` }, yTitle));
  return svg("svg", { viewBox: `0 0 ${left + size + 14} ${top + size + bottom}`, role: "img", "aria-label": label, class: "chart" }, frame, parts);
}

const straight = (from, to, kind) => svg("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], class: kind });
const polyline = (points, kind) => svg("polyline", { points: points.map(([x, y]) => chartPoint(x, y).join()).join(" "), class: kind });

/** Return a reliability diagram: accuracy against the predicted probability, with 95 % intervals if rows are known. */
function reliabilityChart(series) {
  const parts = [straight(chartPoint(0, 0), chartPoint(1, 1), "ideal")];
  for (const { name, its, tone } of series) {
    const filled = its.share.map((share, i) => ({ share, x: its.confidence[i], y: its.accuracy[i] })).filter(({ share }) => share > 0);
    parts.push(polyline(filled.map(({ x, y }) => [x, y]), `line ${tone}`));
    for (const { share, x, y } of filled) {
      const n = its.rows ? Math.round(share * its.rows) : 0;
      const [low, high] = wilson(y * n, n);
      if (n) parts.push(straight(chartPoint(x, low), chartPoint(x, high), `line ${tone}`));
      const [cx, cy] = chartPoint(x, y);
      const interval = n ? ` (95 % interval ${percent(low)} to ${percent(high)}, ${countOf(n, "row")})` : `, ${percent(share)} of the rows`;
      parts.push(svg("circle", { cx, cy, r: 2.5 + 7 * Math.sqrt(share), class: `dot ${tone}` }, svg("title", {}, `${name}: probability ${percent(x)}, accuracy ${percent(y)}${interval}`)));
    }
  }
  const label = `Accuracy against predicted probability: ${series.map((its) => its.name).join(", ")}`;
  return shareChart(label, "predicted probability (%)", "accuracy (%)", parts);
}

/** Return the data of a reliability diagram. */
function reliabilityLines(series) {
  const lines = series.flatMap(({ name, its }) => its.share.map((share, i) => [name, its.confidence[i], its.accuracy[i], share]));
  return [["rows", "probability", "accuracy", "share"], ...lines.filter((line) => line[3] > 0)];
}

/** Return the colour of a custom property of the page as numbers, so that a canvas can mix it. */
function colourOf(property) {
  const probe = el("i", { style: { color: `var(${property})` } });
  document.body.append(probe);
  const found = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).join();
  probe.remove();
  return found;
}

/** Paint values as a square of cells: shades from 0 to the largest value, or two colours by sign. */
function paint(canvas, values, side, most, two = false) {
  const context = canvas.getContext("2d");
  const [plus, minus] = two ? [colourOf("--for"), colourOf("--against")] : [colourOf("--accent"), ""];
  const cell = canvas.width / side;
  context.clearRect(0, 0, canvas.width, canvas.height);
  values.forEach((value, place) => {
    const share = Math.min(Math.abs(Number(value) || 0) / (most || 1), 1);
    if (!share) return;
    context.fillStyle = `rgba(${value > 0 || !two ? plus : minus}, ${share})`;
    const [x, y] = [place % side, Math.floor(place / side)];
    const [left, top] = [Math.round(x * cell), Math.round(y * cell)];
    context.fillRect(left, top, Math.round((x + 1) * cell) - left, Math.round((y + 1) * cell) - top);
  });
  return canvas;
}

/** Return an image of pixels. */
function picture(values, side, label, { most = null, two = false, size = 8 } = {}) {
  const canvas = el("canvas", { width: side * size, height: side * size, class: "map", role: "img", "aria-label": label });
  return paint(canvas, values, side, most ?? Math.max(...values.map((value) => Math.abs(Number(value) || 0)), 1e-12), two);
}
