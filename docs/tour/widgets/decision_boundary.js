// Two Gaussian classes whose means can be dragged, and the boundary with full covariances and that of naive Bayes.

"use strict";

(window.sufficeWidgets ??= []).push(["decision-boundary", (element, { html, svg, slider, Chart, contour, legend, table }) => {
  const LIMITS = [-4, 4, -3, 3];
  const STEP = 0.1; // of the arrow keys
  const CELLS = 120; // of the integration, in each direction
  const classes = [
    { name: "first", mean: [-0.5, 0], deviation: [1, 1], correlation: 0.8 },
    { name: "second", mean: [1.5, 0], deviation: [0.8, 0.8], correlation: 0 },
  ];

  /** Return log p(x) of a class, with its correlation or, as naive Bayes has it, without. */
  function logDensity({ mean, deviation, correlation }, x, y, naive) {
    const r = naive ? 0 : correlation;
    const [u, v] = [(x - mean[0]) / deviation[0], (y - mean[1]) / deviation[1]];
    const spread = Math.log(2 * Math.PI * deviation[0] * deviation[1]) + 0.5 * Math.log1p(-r * r);
    return -spread - (u * u - 2 * r * u * v + v * v) / (2 * (1 - r * r));
  }

  const logOdds = (x, y, naive) => logDensity(classes[1], x, y, naive) - logDensity(classes[0], x, y, naive);

  /** Return the share of rows that both rules assign to the wrong class, if the classes are equally common. */
  function errors() {
    const wrong = [0, 0];
    classes.forEach((its, k) => {
      // a grid in the class's own coordinates, so that it covers each class however narrow it is
      const root = Math.sqrt(1 - its.correlation * its.correlation);
      let total = 0;
      const mine = [0, 0];
      for (let i = 0; i < CELLS; i += 1) {
        for (let j = 0; j < CELLS; j += 1) {
          const [s, t] = [-5 + (10 * (i + 0.5)) / CELLS, -5 + (10 * (j + 0.5)) / CELLS];
          const weight = Math.exp(-0.5 * (s * s + t * t));
          const x = its.mean[0] + its.deviation[0] * s;
          const y = its.mean[1] + its.deviation[1] * (its.correlation * s + root * t);
          total += weight;
          [false, true].forEach((naive, rule) => {
            if (logOdds(x, y, naive) > 0 !== (k === 1)) mine[rule] += weight;
          });
        }
      }
      mine.forEach((value, rule) => (wrong[rule] += value / total / 2));
    });
    return wrong;
  }

  const chart = new Chart("Two Gaussian classes and their boundaries", "x₁", "x₂", 280);
  chart.range(...LIMITS);
  const numbers = html("div");
  const said = html("p", { role: "status" });
  let held = null;

  function ellipse({ mean, deviation, correlation }, radius) {
    const root = Math.sqrt(1 - correlation * correlation);
    return Array.from({ length: 73 }, (_, i) => {
      const [s, t] = [radius * Math.cos((i * Math.PI) / 36), radius * Math.sin((i * Math.PI) / 36)];
      return [mean[0] + deviation[0] * s, mean[1] + deviation[1] * (correlation * s + root * t)];
    });
  }

  function move(k, x, y) {
    const within = (value, low, high) => Math.min(Math.max(value, low), high);
    classes[k].mean = [within(x, LIMITS[0], LIMITS[1]), within(y, LIMITS[2], LIMITS[3])].map((value) => Math.round(value * 100) / 100);
    update();
  }

  const handles = classes.map((its, k) =>
    svg("circle", {
      r: 11, tabindex: 0, role: "slider", class: `handle dot ${its.name}`,
      onpointerdown: (event) => {
        held = k;
        event.target.setPointerCapture(event.pointerId);
      },
      onpointermove: (event) => {
        if (held === k) move(k, ...chart.place(event.clientX, event.clientY));
      },
      onpointerup: () => (held = null),
      onpointercancel: () => (held = null),
      onkeydown: (event) => {
        const [right, up] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [0, 0];
        if (!right && !up) return;
        event.preventDefault();
        move(k, its.mean[0] + STEP * right, its.mean[1] + STEP * up);
        handles[k].focus();
      },
    }));

  function update() {
    const edges = [false, true].map((naive) => contour((x, y) => logOdds(x, y, naive), LIMITS));
    const rings = classes.flatMap((its) => [1, 2].map((radius) => chart.line(ellipse(its, radius), `thin ${its.name}`)));
    classes.forEach(({ mean, name }, k) => {
      const at = mean.map((value) => value.toFixed(2));
      const about = { cx: chart.x(mean[0]), cy: chart.y(mean[1]), "aria-label": `Mean of the ${name} class, moved by the arrow keys`, "aria-valuenow": at[0], "aria-valuemin": LIMITS[0], "aria-valuemax": LIMITS[1], "aria-valuetext": `x₁ ${at[0]}, x₂ ${at[1]}` };
      for (const [key, value] of Object.entries(about)) handles[k].setAttribute(key, value);
    });
    const focused = document.activeElement;
    chart.draw(rings, chart.lines(edges[0], "line plain full"), chart.lines(edges[1], "line third dashed naive"), handles);
    if (handles.includes(focused)) focused.focus();
    const [full, naive] = errors().map((share) => `${(100 * share).toFixed(1)} %`);
    numbers.replaceChildren(table("Rows assigned to the wrong class", ["boundary", "wrong rows"], [["full covariances", full], ["naive Bayes", naive]]));
    said.textContent = classes.map(({ name, mean }) => `Mean of the ${name} class: ${mean.map((value) => value.toFixed(2)).join(", ")}.`).join(" ");
  }

  const controls = classes.map((its) => {
    const control = (label, settings, change) =>
      slider(label, settings, (value) => {
        change(value);
        update();
      }).element;
    return html("fieldset", {}, html("legend", {}, `The ${its.name} class`),
      control("correlation", { min: -0.95, max: 0.95, step: 0.05, value: its.correlation, digits: 2 }, (value) => (its.correlation = value)),
      ...["x₁", "x₂"].map((name, i) => control(`deviation of ${name}`, { min: 0.3, max: 2, step: 0.1, value: its.deviation[i], digits: 1 }, (value) => (its.deviation[i] = value))));
  });
  element.append(
    html("div", { class: "controls" }, controls),
    html("div", { class: "charts" }, chart.svg, html("div", {}, numbers, said)),
    legend([["line plain", "boundary with full covariances"], ["line third dashed", "boundary of naive Bayes"], ["thin first", "first class"], ["thin second", "second class"]]),
  );
  update();
}]);
