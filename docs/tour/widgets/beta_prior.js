// A Beta prior, coin flips and the posterior, with the estimates by maximum likelihood, MAP and posterior mean.

"use strict";

(window.sufficeWidgets ??= []).push(["beta-prior", (element, { html, slider, Chart, legend, table }) => {
  const POINTS = 300;
  const state = { a: 2, b: 2, heads: 3, tails: 2 };
  // Lanczos' approximation of log Γ(z) for z > 0, with g = 7: the error is below 1e-13.
  const LANCZOS = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];

  function logGamma(z) {
    if (z < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * z)) - logGamma(1 - z);
    const x = z - 1;
    const sum = LANCZOS.reduce((total, value, i) => total + (i ? value / (x + i) : value), 0);
    const t = x + 7.5;
    return 0.5 * Math.log(2 * Math.PI) + (x + 0.5) * Math.log(t) - t + Math.log(sum);
  }

  const logDensity = (theta, a, b) => (a - 1) * Math.log(theta) + (b - 1) * Math.log1p(-theta) - (logGamma(a) + logGamma(b) - logGamma(a + b));

  /** Return the mode; one that would be negative lies at the edge, and without a single mode it is 1/2. */
  function mode(a, b) {
    const up = Math.max(a - 1, 0);
    const down = Math.max(b - 1, 0);
    return up + down > 0 ? up / (up + down) : 0.5;
  }

  const chart = new Chart("Densities of the prior and of the posterior", "θ, the probability of heads", "density");
  const numbers = html("div");
  const said = html("p", { role: "status" });

  function update() {
    const { a, b, heads, tails } = state;
    const [after, before] = [[a + heads, b + tails], [a, b]];
    const grid = Array.from({ length: POINTS }, (_, i) => (i + 0.5) / POINTS);
    const curve = ([p, q]) => grid.map((theta) => [theta, Math.exp(logDensity(theta, p, q))]);
    const curves = { prior: curve(before), likelihood: curve([heads + 1, tails + 1]), posterior: curve(after) };
    const inner = Object.values(curves).flatMap((points) => points.slice(3, -3).map(([, y]) => y));
    chart.range(0, 1, 0, 1.08 * Math.max(...inner));
    const flips = heads + tails;
    const estimates = { mle: flips ? heads / flips : null, map: mode(...after), mean: after[0] / (after[0] + after[1]) };
    const top = chart.limits[3];
    chart.draw(
      chart.line(curves.prior, "line plain dashed"),
      flips ? chart.line(curves.likelihood, "line third dotted") : null,
      chart.line(curves.posterior, "line first"),
      chart.line([[estimates.map, 0], [estimates.map, top]], "thin second"),
    );
    const size = after[0] + after[1];
    const deviation = Math.sqrt((after[0] * after[1]) / (size * size * (size + 1)));
    const text = (value) => (value === null ? "none" : value.toFixed(4));
    numbers.replaceChildren(table("Estimates", ["estimate", "θ"], [
      ["maximum likelihood", text(estimates.mle)],
      ["MAP (mode of the posterior)", text(estimates.map)],
      ["mean of the posterior", text(estimates.mean)],
      ["standard deviation", text(deviation)],
    ]));
    said.textContent = `Prior Beta(${a}, ${b}) and ${heads} heads, ${tails} tails give the posterior Beta(${after[0]}, ${after[1]}).`;
  }

  const control = (name, key, settings) =>
    slider(name, { ...settings, value: state[key] }, (value) => {
      state[key] = value;
      update();
    }).element;
  element.append(
    html("div", { class: "controls" },
      control("prior β, heads", "a", { min: 0.5, max: 30, step: 0.5, digits: 1 }),
      control("prior β, tails", "b", { min: 0.5, max: 30, step: 0.5, digits: 1 }),
      control("heads α", "heads", { min: 0, max: 100, step: 1 }),
      control("tails α", "tails", { min: 0, max: 100, step: 1 })),
    html("div", { class: "charts" }, chart.svg, html("div", {}, numbers, said)),
    legend([["line plain dashed", "prior"], ["line third dotted", "likelihood, scaled to area 1"], ["line first", "posterior"], ["line second", "MAP"]]),
  );
  update();
}]);
