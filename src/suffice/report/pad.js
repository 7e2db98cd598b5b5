// The drawing pad: strokes by mouse, finger or keyboard become the image of a row.

const PAD = 420; // pixels

/** Return the value of a feature for a shade of ink from 0 to 1. */
function valueOfInk(feature, ink, darkest) {
  if (feature.input === "none") return null;
  if (feature.input === "menu") return feature.labels[Math.round(ink * (feature.labels.length - 1))] ?? null;
  return feature.is_whole ? Math.round(ink * darkest) : ink * darkest;
}

/** Return the drawing pad, with ``show()`` that draws the row and ``clear()``. */
function drawingPad(engine, state, update) {
  const { side, features } = engine;
  const drawing = data.images.drawing;
  const canvas = el("canvas", { width: PAD, height: PAD, id: "pad", tabindex: "0", role: "application", "aria-label": "Drawing pad: draw here", "aria-describedby": "pad-help" });
  const seen = el("canvas", { width: side * 12, height: side * 12, class: "map", role: "img", "aria-label": "What the model sees" });
  const pen = { x: 0.5, y: 0.3, isDown: false, isShown: false };
  const inkOf = (value) => Math.max(Number(value) || 0, 0) / (drawing.darkest || 1);
  const show = () => {
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, PAD, PAD);
    if (state.isEmpty) {
      context.fillStyle = `rgb(${colourOf("--soft")})`;
      context.font = "28px system-ui, sans-serif";
      context.textAlign = "center";
      context.fillText("draw here", PAD / 2, PAD / 2);
    } else if (!state.strokes.length) paint(canvas, state.row.map(inkOf), side, 1);
    drawStrokes(context, state.strokes);
    if (pen.isShown) drawPen(context, pen);
    paint(seen, state.isEmpty ? [] : state.row.map(inkOf), side, 1);
  };
  const draw = () => {
    state.isEmpty = !state.strokes.length;
    const image = state.isEmpty ? new Array(side * side).fill(0) : strokeImage(state.strokes, side, drawing);
    state.row = features.map((feature, place) => valueOfInk(feature, image[place] ?? 0, drawing.darkest));
    show();
    update();
  };
  const clear = () => {
    state.strokes = [];
    pen.isDown = false;
    draw();
  };
  const addPoint = (x, y) => state.strokes.at(-1).push([Math.min(Math.max(x, 0), 1), Math.min(Math.max(y, 0), 1)]);
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pen.isShown = pen.isDown = false;
    state.strokes.push([]);
    addPoint(...place(event));
    draw();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!event.buttons || !state.strokes.length) return;
    for (const each of event.getCoalescedEvents?.() || [event]) addPoint(...place(each));
    draw();
  });
  canvas.addEventListener("blur", () => ((pen.isShown = pen.isDown = false), show()));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step && ![" ", "Backspace", "Delete"].includes(event.key)) return;
    event.preventDefault();
    pen.isShown = true;
    if (step) {
      [pen.x, pen.y] = [Math.min(Math.max(pen.x + step[0] / 16, 0), 1), Math.min(Math.max(pen.y + step[1] / 16, 0), 1)];
      if (pen.isDown) addPoint(pen.x, pen.y);
    } else if (event.key === " ") {
      pen.isDown = !pen.isDown;
      if (pen.isDown) state.strokes.push([[pen.x, pen.y]]);
    } else {
      state.strokes.pop();
      pen.isDown = false;
    }
    if (!step || pen.isDown) draw();
    else show();
  });
  const undo = button("Undo", () => (state.strokes.pop(), draw()));
  const help = note("Draw with the mouse or a finger; lift it between strokes. Keyboard: arrow keys move the pen, space lowers or lifts it, backspace removes the last stroke.");
  help.id = "pad-help";
  const small = el("figure", { class: "seen" }, seen, el("figcaption", {}, "what the model sees"));
  return { node: el("div", { class: "pad" }, canvas, el("div", { class: "beside" }, small, undo), help), show, clear };
}

function drawStrokes(context, strokes) {
  Object.assign(context, { strokeStyle: `rgb(${colourOf("--accent")})`, lineWidth: PAD / 18, lineCap: "round", lineJoin: "round" });
  for (const stroke of strokes) {
    context.beginPath();
    for (const [a, b] of segmentsOf(stroke)) {
      context.moveTo(a[0] * PAD, a[1] * PAD);
      context.lineTo(b[0] * PAD, b[1] * PAD);
    }
    context.stroke();
  }
}

function drawPen(context, pen) {
  Object.assign(context, { strokeStyle: `rgb(${colourOf("--against")})`, lineWidth: pen.isDown ? 5 : 2 });
  context.strokeRect(pen.x * PAD - 8, pen.y * PAD - 8, 16, 16);
}
