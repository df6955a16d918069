/** Draws a finding's picture as SVG from a few numbers, with the same in words for those who do not see it. */
const pictures = (() => {
  const WIDTH = 440, HEIGHT = 200, LEFT = 80, RIGHT = 14, TOP = 26, BOTTOM = 40;
  const NAMES = ["document", "as written", "this backend"];
  const SPACE = "http://www.w3.org/2000/svg";

  function tag(name, attributes, ...children) {
    const made = document.createElementNS(SPACE, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const text = (x, y, words, anchor = "middle", look = "") =>
    tag("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor, class: look }, words);

  function frame(title, words) {
    const svg = tag("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "picture", role: "img", tabindex: "0", "aria-label": `${title}. ${words}` });
    svg.append(tag("title", {}, title));
    return svg;
  }

  /** What a point says in words, for the pointer, the keyboard and screen readers. */
  function told(point, operand) {
    const [x, bits, ...results] = point;
    const place = bits === x ? `${operand} ${x}` : `${operand} ${x} (${bits})`;
    const said = results.map((result, i) => (result === "" ? "" : `${NAMES[i]} ${result}`)).filter(Boolean);
    return `${place}: ${said.join(", ")}`;
  }

  /** A picture with a line below that has the values of one point; the pointer and the arrow keys choose it. */
  function explorable(svg, points, across, first, operand) {
    const box = document.createElement("figure");
    const line = document.createElement("figcaption");
    const cursor = tag("path", { class: "cursor" });
    let at = first;
    function choose(number) {
      at = Math.max(0, Math.min(points.length - 1, number));
      line.textContent = told(points[at], operand);
      cursor.setAttribute("d", `M${across(at).toFixed(1)} ${TOP}V${HEIGHT - BOTTOM}`);
    }
    svg.addEventListener("pointermove", (event) => {
      const place = (event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width * WIDTH;
      let best = 0;
      points.forEach((_, i) => { if (Math.abs(across(i) - place) < Math.abs(across(best) - place)) best = i; });
      choose(best);
    });
    svg.addEventListener("pointerleave", () => choose(first));
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      choose(at + step);
    });
    svg.prepend(cursor);
    choose(first);
    box.append(svg, line);
    return box;
  }

  /** The results over the first operand: a staircase, or a line that is one from afar. */
  function steps({ operand, apart, points, x }) {
    if (points.length < 2) return null;
    const values = points.map((point) => Number(point[0]));
    const ends = values[values.length - 1] - values[0];
    const room = WIDTH - LEFT - RIGHT;
    const even = apart || !(ends > 0) || !Number.isFinite(ends);
    const across = (i) => LEFT + room * (even ? (i + 0.5) / points.length : (values[i] - values[0]) / ends);
    const given = [...new Set(points.flatMap((point) => point.slice(2).filter((one) => one !== "")))];
    const results = given.map(Number).filter(Number.isFinite);
    const special = given.filter((one) => !Number.isFinite(Number(one))); // nan, inf, -inf: each has a lane above the rest
    const low = Math.min(...results), high = Math.max(...results);
    const top = TOP + 14 * special.length;
    const down = (result) => {
      const lane = special.indexOf(String(result));
      if (lane >= 0) return TOP + 6 + 14 * lane;
      const place = high > low ? (Math.max(low, Math.min(high, Number(result))) - low) / (high - low) : 0.5;
      return HEIGHT - BOTTOM - 8 - place * (HEIGHT - top - BOTTOM - 16);
    };
    const first = Math.max(0, points.findIndex((point) => point[0] === x));
    const svg = frame(`Results over ${operand}`, inWords(points, operand));
    for (const result of [...special, ...labels(results, down)]) {
      svg.append(tag("path", { class: "grid", d: `M${LEFT} ${down(result).toFixed(1)}H${WIDTH - RIGHT}` }));
      svg.append(text(LEFT - 6, down(result) + 4, short(result), "end"));
    }
    const half = even ? room / points.length / 2 : 0;
    svg.append(tag("path", { class: "ticks", d: points.map((_, i) => `M${across(i).toFixed(1)} ${HEIGHT - BOTTOM}v5`).join("") }));
    if (apart) {
      const edges = points.slice(1).map((point, i) => (point[2] !== points[i][2] ? (across(i) + across(i + 1)) / 2 : null)).filter((one) => one !== null);
      svg.append(tag("path", { class: "boundary", d: edges.map((edge) => `M${edge.toFixed(1)} ${TOP}V${HEIGHT - BOTTOM}`).join("") }));
    }
    const line = (which) => points.map((point, i) => {
      const y = down(point[which]).toFixed(1);
      if (!even) return i ? `H${across(i).toFixed(1)}V${y}` : `M${across(0).toFixed(1)} ${y}`; // from afar, steps touch
      const joined = i && point[which] === points[i - 1][which];
      return `${joined ? "L" : "M"}${(across(i) - half).toFixed(1)} ${y}H${(across(i) + half).toFixed(1)}`;
    }).join("");
    if (points.some((point) => point[3] !== point[2])) svg.append(tag("path", { class: "written", d: line(3) }));
    svg.append(tag("path", { class: "document", d: line(2) }));
    points.forEach((point, i) => {
      if (point[4] === "") return;
      const y = down(point[4]);
      if (point[2] !== point[4]) svg.append(tag("path", { class: "off", d: `M${across(i).toFixed(1)} ${down(point[2]).toFixed(1)}V${y.toFixed(1)}` }));
      svg.append(cross(across(i), y));
    });
    svg.append(...legend(points), text(Math.min(across(first), WIDTH - 3.6 * short(x).length), HEIGHT - BOTTOM + 18, short(x), "middle", "label"));
    svg.append(text(WIDTH / 2, HEIGHT - 6, apart ? `${operand}; each tick is one value of its type` : operand));
    return explorable(svg, points, across, first, operand);
  }

  /** The neighbours of a real result on a line. */
  function floats({ operand, points }) {
    const room = WIDTH - LEFT - RIGHT;
    const across = (i) => LEFT + (room * (i + 0.5)) / points.length;
    const middle = (TOP + HEIGHT - BOTTOM) / 2;
    const said = points.filter((point) => point.slice(2).some(Boolean)).map((point) => told(point, operand));
    const svg = frame(`Neighbours of the result ${operand}`, said.join("; "));
    svg.append(tag("path", { class: "grid", d: `M${LEFT} ${middle}H${WIDTH - RIGHT}` }));
    svg.append(tag("path", { class: "ticks", d: points.map((_, i) => `M${across(i).toFixed(1)} ${middle - 5}v10`).join("") }));
    points.forEach((point, i) => {
      if (point[2]) svg.append(tag("circle", { class: "document", cx: across(i).toFixed(1), cy: middle, r: 7 }));
      if (point[3]) svg.append(tag("rect", { class: "written", x: (across(i) - 10).toFixed(1), y: middle - 10, width: 20, height: 20 }));
      if (point[4]) svg.append(cross(across(i), middle));
      if (point[2] || point[4]) svg.append(text(across(i), point[2] ? middle - 22 : middle + 34, point[0], "middle", "label"));
    });
    svg.append(...legend(points), text(WIDTH / 2, HEIGHT - 6, `${operand}; each tick is one value of its type`));
    return explorable(svg, points, across, points.findIndex((point) => point[4]), operand);
  }

  /** An array with the places marked that have an answer; null for a path that names no places, or all of them. */
  function array(paths, deviates) {
    const found = paths.map((path) => /at positions? ([\d, ]+) of (?:\[([\d, ]+)\]|(\d+))/.exec(path)).find(Boolean);
    if (!found) return null;
    const shape = (found[2] || found[3]).split(",").map(Number);
    const columns = shape[shape.length - 1], size = shape.reduce((a, b) => a * b, 1);
    const marked = new Set(found[1].split(",").map(Number));
    if (!columns || size > 512 || marked.size >= size) return null;
    const cell = Math.max(5, Math.min(16, Math.floor(420 / columns)));
    const rows = size / columns;
    const words = `An array of ${shape.join(" × ")} with ${marked.size} places marked: ${[...marked].join(", ")}`;
    const svg = tag("svg", { viewBox: `0 0 ${columns * cell + 1} ${rows * cell + 1}`, class: deviates ? "array deviating" : "array", role: "img", "aria-label": words });
    svg.style.width = `${columns * cell + 1}px`;
    for (let i = 0; i < size; i += 1) {
      const place = { x: (i % columns) * cell + 0.5, y: Math.floor(i / columns) * cell + 0.5, width: cell, height: cell };
      svg.append(tag("rect", { ...place, class: marked.has(i) ? "marked" : "" }, tag("title", {}, `position ${i}`)));
    }
    return svg;
  }

  const cross = (x, y) => tag("path", { class: "got", d: `M${(x - 5).toFixed(1)} ${(y - 5).toFixed(1)}l10 10m0 -10l-10 10` });

  function legend(points) {
    const written = points.some((point) => point[3] !== point[2] && point[3] !== "");
    const keys = [["document", "— document"], ...(written ? [["written", "- - as written"]] : []), ["got", "× this backend"]];
    return keys.map(([look, words], i) => text(LEFT + i * 118, 14, words, "start", `key ${look}`));
  }

  /** At most five results that are worth a line, none so near to another that their labels would touch. */
  function labels(results, down) {
    const found = [...new Set(results)].sort((a, b) => a - b);
    const some = found.length <= 5 ? found : [0, 0.25, 0.5, 0.75, 1].map((part) => found[Math.round(part * (found.length - 1))]);
    const kept = [];
    for (const one of some) if (!kept.length || down(kept[kept.length - 1]) - down(one) >= 12) kept.push(one);
    return kept;
  }

  const short = (number) => { const words = String(number); return Number.isFinite(Number(words)) && words.length > 11 ? Number(words).toPrecision(5) : words; };

  function inWords(points, operand) {
    const parts = [];
    points.forEach((point, i) => { if (!i || point[2] !== points[i - 1][2]) parts.push(`${point[2]} from ${operand} ${point[0]} on`); });
    const document_ = parts.length <= 6 ? `Document: ${parts.join(", ")}` : `Document: ${points[0][2]} at ${points[0][0]} to ${points[points.length - 1][2]} at ${points[points.length - 1][0]}`;
    const got = points.filter((point) => point[4] !== "").slice(0, 4).map((point) => `${point[4]} at ${point[0]}`);
    return `${document_}. This backend: ${got.join(", ")}`;
  }

  return { array, draw: (picture) => ({ steps, floats })[picture.kind]?.(picture) || null };
})();
