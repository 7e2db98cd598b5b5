// The drawing pad: sets the cells of a square image by mouse, finger or keyboard.

/** Return the value of a feature for a shade of ink from 0 to 1. */
function valueOfInk(feature, ink) {
  if (feature.input === "menu") return feature.labels[Math.round(ink * (feature.labels.length - 1))] ?? null;
  const value = feature.low + ink * (feature.high - feature.low);
  return feature.is_whole ? Math.round(value) : value;
}

/** Return the shade of ink of a value, from 0 to 1. */
function inkOfValue(feature, value) {
  if (feature.input === "none" || value === null) return 0;
  if (feature.input === "menu") return feature.labels.indexOf(value) / Math.max(feature.labels.length - 1, 1);
  return (value - feature.low) / (feature.high - feature.low);
}

/** Return the drawing pad, and a function that shows the row on it. */
function drawingPad(engine, state, update) {
  const [side, cells] = [engine.side, engine.features.length];
  const scale = equalizeRanges(engine);
  const canvas = el("canvas", { width: side * Math.round(336 / side), height: side * Math.round(336 / side), id: "pad", tabindex: "0", role: "application", "aria-label": `Drawing pad of ${side} by ${side} cells`, "aria-describedby": "pad-help live-status" });
  const help = el("p", { class: "note", id: "pad-help" }, "Draw with the mouse or a finger. Keyboard: arrow keys move, space draws, backspace erases.");
  const cursor = { x: Math.floor(side / 2), y: Math.floor(side / 2), shown: false };
  const show = () => {
    paint(canvas, state.row.map((value, place) => inkOfValue(scale[place], value)), side, 1);
    if (cursor.shown) outline(canvas, cursor, side);
  };
  const put = (x, y, ink) => {
    const place = y * side + x;
    if (x < 0 || y < 0 || x >= side || y >= side || place >= cells) return;
    if (ink === 0 || inkOfValue(scale[place], state.row[place]) < ink) state.row[place] = valueOfInk(scale[place], ink);
  };
  const brush = (x, y, ink) => {
    put(x, y, ink);
    if (ink && side > 6) for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) put(x + dx, y + dy, side > 12 ? 0.8 : 0.35);
    update();
    show();
  };
  const stroke = (event) => {
    const box = canvas.getBoundingClientRect();
    const cell = (at, start, length) => Math.floor(((at - start) / length) * side);
    brush(cell(event.clientX, box.left, box.width), cell(event.clientY, box.top, box.height), event.buttons & 2 || event.shiftKey ? 0 : 1);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    cursor.shown = false;
    stroke(event);
  });
  canvas.addEventListener("pointermove", (event) => event.buttons && (event.getCoalescedEvents?.() || [event]).forEach(stroke));
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("blur", () => ((cursor.shown = false), show()));
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[event.key];
    if (!step && ![" ", "Backspace", "Delete"].includes(event.key)) return;
    event.preventDefault();
    cursor.shown = true;
    if (step) {
      cursor.x = Math.min(Math.max(cursor.x + step[0], 0), side - 1);
      cursor.y = Math.min(Math.max(cursor.y + step[1], 0), side - 1);
      show();
    } else brush(cursor.x, cursor.y, event.key === " " ? 1 : 0);
  });
  return { node: el("div", { class: "pad" }, canvas, help), show };
}

/** Give all numeric features the same range, so that a value has the same shade in each pixel; return the features. */
function equalizeRanges(engine) {
  const numbers = engine.features.filter((feature) => feature.input === "number");
  const [low, high] = [Math.min(...numbers.map((its) => its.low), Infinity), Math.max(...numbers.map((its) => its.high), -Infinity)];
  for (const feature of numbers) Object.assign(feature, { low: Math.max(low, Math.min(low, 0)), high });
  return engine.features;
}

function outline(canvas, cursor, side) {
  const [context, cell] = [canvas.getContext("2d"), canvas.width / side];
  context.strokeStyle = "rgb(206, 98, 50)";
  context.lineWidth = 3;
  context.strokeRect(cursor.x * cell + 1.5, cursor.y * cell + 1.5, cell - 3, cell - 3);
}
