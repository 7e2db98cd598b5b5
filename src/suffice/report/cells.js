// Cells: how the values of a row become the numbers that terms compute with. A row has one value for each feature: a
// number, a label, a text, or null for an empty cell.

/** Return the key of a label: 1, 1.0 and true are the same label. */
const keyOf = (label) => (typeof label === "string" ? `s${label}` : `n${Number(label)}`);

const isEmpty = (value) => value === null || value === undefined || Number.isNaN(value);

/** Return the code of a label or of a binned number; a level that is unknown has the number of levels as its code. */
function codeOf(feature, edges, value, size) {
  if (edges) return edges.filter((edge) => edge <= value).length;
  const code = feature.index ? feature.index.get(keyOf(value)) : Math.floor(value);
  return code === undefined || code >= size ? size : code;
}

/** Return the words of a text that are in the vocabulary, each with its count. */
function countWords(block, text) {
  const { lowercase, binary, ngrams } = block.text;
  const tokens = ((lowercase ? text.toLowerCase() : text).match(/[\p{L}\p{N}_]{2,}/gu) || []).filter((word) => !block.stop.has(word));
  const counts = new Map();
  for (let size = ngrams[0]; size <= ngrams[1]; size++) {
    for (let first = 0; first + size <= tokens.length; first++) {
      const word = tokens.slice(first, first + size).join(" ");
      if (block.index.has(word)) counts.set(word, binary ? 1 : (counts.get(word) || 0) + 1);
    }
  }
  return counts;
}

/** Return the cells of a block: {column, x, feature, name, value}; x is null if the cell is empty. */
function readCells(engine, block, row) {
  if (block.words) {
    const feature = block.columns[0];
    const counts = isEmpty(row[feature]) ? [] : Array.from(countWords(block, String(row[feature])));
    return counts.map(([word, x]) => ({ column: block.index.get(word), x, feature, name: `${engine.features[feature].name}: ${word}`, value: x }));
  }
  if (block.trees) return block.columns.map((place, column) => treeCell(engine.features[place], place, block.levels[column], row[place]));
  return block.columns.map((place, column) => {
    const [feature, value] = [engine.features[place], row[place]];
    // the last level of some columns is an empty cell
    const empty = block.missing && block.missing[column] ? block.sizes[column] - 1 : null;
    const x = isEmpty(value) ? empty : block.sizes ? codeOf(feature, block.edges[column], value, block.sizes[column]) : Number(value);
    return { column, x, feature: place, name: feature.name, value };
  });
}

/** Return the cell of a column on which trees split; ``levels`` are the positions of its labels, null if it is a number. */
function treeCell(feature, place, levels, value) {
  const cell = { feature: place, name: feature.name, value, isLevel: levels !== null };
  if (!levels) return { ...cell, x: isEmpty(value) ? NaN : Number(value) };
  const code = isEmpty(value) ? null : feature.index.get(keyOf(value));
  // a level that is unknown comes after all others
  return { ...cell, x: code === null ? -1 : code === undefined ? Infinity : levels[code] };
}
