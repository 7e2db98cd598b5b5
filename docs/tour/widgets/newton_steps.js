// Newton's method for logistic regression on eight rows, one step at a time.

"use strict";

(window.sufficeWidgets ??= []).push(["newton-steps", (element, { html, slider, Chart, contour, legend, table }) => {
  const X = [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4];
  const Y = [0, 0, 1, 0, 1, 0, 1, 1];
  const LIMITS = [-1.5, 3.5, -7, 3]; // slopes and intercepts that are shown
  const LEVELS = [-4.3, -4.6, -5.5, -8, -14];
  const MOST = 12;
  const start = { slope: 0, intercept: 0 };
  let path = [];

  /** Return log(1 + e^z) without overflow. */
  const softplus = (z) => Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)));
  const g = (z) => (z < 0 ? Math.exp(z) / (1 + Math.exp(z)) : 1 / (1 + Math.exp(-z)));
  const logLikelihood = (slope, intercept) => X.reduce((total, x, i) => total + Y[i] * (slope * x + intercept) - softplus(slope * x + intercept), 0);

  /** Return the gradient, and the entries of the negative Hessian: of slope, of both, and of intercept. */
  function derivatives({ slope, intercept }) {
    const gradient = [0, 0];
    const curvature = [0, 0, 0];
    X.forEach((x, i) => {
      const p = g(slope * x + intercept);
      const weight = p * (1 - p);
      gradient[0] += (Y[i] - p) * x;
      gradient[1] += Y[i] - p;
      curvature[0] += weight * x * x;
      curvature[1] += weight * x;
      curvature[2] += weight;
    });
    return { gradient, curvature };
  }

  /** Return the next point; a step that decreases the likelihood is halved until it does not. */
  function step(from) {
    const { gradient: [u, v], curvature: [a, b, c] } = derivatives(from);
    const determinant = a * c - b * b;
    const direction = [(c * u - b * v) / determinant, (a * v - b * u) / determinant];
    const before = logLikelihood(from.slope, from.intercept);
    for (let size = 1; size > 1e-6; size /= 2) {
      const next = { slope: from.slope + size * direction[0], intercept: from.intercept + size * direction[1], size };
      if (logLikelihood(next.slope, next.intercept) >= before - 1e-12) return next;
    }
    return { ...from, size: 0 };
  }

  const steepest = (point) => Math.max(...derivatives(point).gradient.map(Math.abs));
  const curves = new Chart("Rows and the probability of class 1", "x", "probability of class 1");
  const hill = new Chart("Contours of the log-likelihood, and the steps", "slope", "intercept");
  hill.range(...LIMITS);
  curves.range(0, 4.5, -0.05, 1.05);
  const contours = LEVELS.map((level) => contour((slope, intercept) => logLikelihood(slope, intercept) - level, LIMITS));
  const numbers = html("div");
  const said = html("p", { role: "status" });
  const forward = html("button", { type: "button", onclick: () => advance() }, "Newton step");
  const again = html("button", { type: "button", onclick: () => restart() }, "Start again");

  const isMaximum = () => steepest(path.at(-1)) < 1e-10;
  const isDone = () => isMaximum() || path.length > MOST || path.at(-1).size === 0;

  function advance() {
    if (!isDone()) path.push(step(path.at(-1)));
    update();
  }

  function restart() {
    path = [{ ...start, size: 1 }];
    update();
  }

  function update() {
    const grid = Array.from({ length: 91 }, (_, i) => i / 20);
    const sigmoid = (point) => grid.map((x) => [x, g(point.slope * x + point.intercept)]);
    const now = path.at(-1);
    curves.draw(
      path.slice(-3, -1).map((point) => curves.line(sigmoid(point), "thin second dashed")),
      curves.line(sigmoid(now), "line second"),
      X.map((x, i) => curves.dot(x, Y[i], "first")),
    );
    hill.draw(
      contours.map((lines) => hill.lines(lines, "thin plain")),
      hill.line(path.map(({ slope, intercept }) => [slope, intercept]), "line second"),
      path.map(({ slope, intercept }) => hill.dot(slope, intercept, "second", 3)),
    );
    const rows = path.map((point, k) => [String(k), point.slope.toFixed(6), point.intercept.toFixed(6), logLikelihood(point.slope, point.intercept).toFixed(9), steepest(point).toExponential(1)]);
    numbers.replaceChildren(table("Steps", ["step", "slope", "intercept", "log-likelihood", "gradient"], rows));
    forward.disabled = isDone();
    const shortened = now.size < 1 ? ` The last step was shortened to ${now.size} of its length.` : "";
    said.textContent = `After ${path.length - 1} steps the log-likelihood is ${logLikelihood(now.slope, now.intercept).toFixed(6)}${isMaximum() ? ", its maximum" : ""}.${shortened}`;
  }

  const control = (name, key, settings) =>
    slider(name, { ...settings, value: start[key] }, (value) => {
      start[key] = value;
      restart();
    }).element;
  element.append(
    html("div", { class: "controls" },
      control("start, slope", "slope", { min: -1, max: 3, step: 0.1, digits: 1 }),
      control("start, intercept", "intercept", { min: -6, max: 2, step: 0.1, digits: 1 })),
    forward, again,
    html("div", { class: "charts" }, curves.svg, hill.svg),
    legend([["line second", "current step, and the path"], ["thin second dashed", "the two steps before"], ["thin plain", "contours of the log-likelihood"]]),
    numbers, said,
  );
  restart();
}]);
