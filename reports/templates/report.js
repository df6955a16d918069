/** Filters, links, windows over long lists, sorting and keys. The address has the whole view. */
(() => {
  const KINDS = { backend: "b", operator: "o", mode: "m", type: "t", flag: "f", clause: "c", verdict: "v", cause: "u", document: "w", domain: "y" };
  const INSIDE = ["m", "t", "c", "f"]; // what a cause's elements differ in
  const WINDOW = 50;
  const STATUS = { deviates: "d", exact: "e", conforms: "ec", "working-precision": "c", "other-order": "c", unsupported: "u", failed: "f", crash: "f", error: "f", timeout: "f" };
  const MARKS = [["deviates", "✗", "fail"], ["failed", "!", "broke"], ["hazard", "⇄", "hazard"], ["other-order", "≋", "other"], ["working-precision", "≈", "pass"], ["exact", "✓", "pass"], ["unspecified", "?", "open"], ["unsupported", "∅", "idle"]];
  const form = document.getElementById("filters");
  const status = document.getElementById("status");
  const counts = document.getElementById("counts").dataset;
  const cube = JSON.parse(counts.cube);
  const cubeKinds = new Set(counts.dims.split(" "));
  const main = document.querySelector("main");
  const rows = [...main.querySelectorAll(".f")].map((element) => ({
    element,
    sorts: element.dataset.k ? JSON.parse(element.dataset.k) : null,
    patterns: element.dataset.x ? JSON.parse(element.dataset.x) : null,
    total: Number(element.dataset.n || 0),
    at: Object.fromEntries(Object.values(KINDS).filter((k) => k in element.dataset)
      .map((k) => [k, new Set(element.dataset[k].split(" "))])),
    text: null,
    fits: true,
  }));
  const byElement = new Map(rows.map((row) => [row.element, row]));
  const sections = [...document.querySelectorAll("section[data-dims]")].map((section) => ({
    section,
    dims: section.dataset.dims.split(" "),
    rows: rows.filter((row) => section.contains(row.element)),
    limit: WINDOW,
    more: null,
  }));
  const verdicts = [...form.elements.verdict.options].slice(1).map((option) => option.value);
  const count = (n) => n.toLocaleString("en");
  document.documentElement.classList.add("js");

  /** The filters that are set: letter to position, -1 for a value that nothing here has. */
  function chosen() {
    const found = {};
    for (const [name, letter] of Object.entries(KINDS)) {
      const select = form.elements[name];
      if (select.value) found[letter] = select.selectedOptions[0].dataset.unknown ? -1 : select.selectedIndex - 1;
    }
    return found;
  }

  /** What is typed: words, statuses asked of backends as in torch:deviates, and filters as in type:uint8. */
  function typed() {
    const found = { words: [], asked: [], set: {}, wrong: [] };
    for (const word of form.elements.text.value.split(/\s+/).filter(Boolean)) {
      const colon = word.lastIndexOf(":");
      const [left, right] = [word.slice(0, colon), word.slice(colon + 1).toLowerCase()];
      const backend = cards.run.backends.indexOf(left);
      if (colon > 0 && backend >= 0) {
        if (right in STATUS) found.asked.push([backend, STATUS[right]]);
        else found.wrong.push(`${right} is no verdict: ${Object.keys(STATUS).join(", ")}`);
      } else if (colon > 0 && left in KINDS) {
        const options = [...form.elements[left].options].slice(1).map((option) => option.value.toLowerCase());
        found.set[KINDS[left]] = options.indexOf(right);
        if (options.indexOf(right) < 0) found.wrong.push(`no ${left} here is ${right}`);
      } else found.words.push(word.toLowerCase());
    }
    return found;
  }

  /** How many elements of a cause match, by its table of sorts. */
  function matching(sorts, wanted) {
    let sum = 0;
    for (const [mode, one, other, clause, flags, n] of sorts) {
      if ("m" in wanted && wanted.m !== mode) continue;
      if ("t" in wanted && wanted.t !== one && wanted.t !== other) continue;
      if ("c" in wanted && wanted.c !== clause) continue;
      if ("f" in wanted && !flags.includes(wanted.f)) continue;
      sum += n;
    }
    return sum;
  }

  /** How many elements of a cause have the statuses that are asked of backends. */
  function beside(patterns, asked) {
    return patterns.reduce((sum, [pattern, n]) => sum + (asked.every(([at, which]) => which.includes(pattern[at])) ? n : 0), 0);
  }

  function holds(row, words) {
    if (!words.length) return true;
    row.text = row.text || row.element.textContent.toLowerCase();
    return words.every((word) => row.text.includes(word) || has(row.element, word));
  }

  /** Whether a card has a discrepancy or an id of this name, which its text need not have. */
  function has(card, word) {
    if (!/^[a-z]\d+$/.test(word)) return false;
    const id = word.toUpperCase();
    return card.id === id || Boolean(card.querySelector(`[id="${id}"]`)) || (card.dataset.d || "").includes(`"id":"${id}"`);
  }

  /** Whether a row matches, and for a cause how many of its elements. */
  function weigh(row, wanted, { words, asked }) {
    const here = Object.entries(wanted).every(([k, position]) => !(k in row.at) || row.at[k].has(String(position)));
    if (!here || !holds(row, words)) return { fits: false };
    if (!row.sorts) return { fits: !asked.length };
    const inside = INSIDE.some((k) => k in wanted);
    if (!inside && !asked.length) return { fits: true, n: row.total };
    const listed = row.sorts.reduce((sum, sort) => sum + sort[5], 0);
    const numbers = [...(inside ? [matching(row.sorts, wanted)] : []), ...(asked.length ? [beside(row.patterns, asked)] : [])];
    const known = asked.length ? row.patterns.reduce((sum, one) => sum + one[1], 0) : row.total;
    const n = Math.min(...numbers);
    const about = numbers.length > 1 ? "at most " : (inside ? listed : known) < row.total ? "at least " : "";
    return { fits: n > 0, n, note: `${about}${count(n)} of ${count(row.total)} match` };
  }

  function apply() {
    const text = typed();
    const wanted = { ...chosen(), ...text.set };
    const narrowed = Boolean(text.words.length || text.asked.length || Object.keys(wanted).length);
    const sum = { findings: 0, elements: 0 };
    for (const row of rows) {
      const found = narrowed ? weigh(row, wanted, text) : { fits: true, n: row.total };
      row.fits = found.fits;
      if (row.sorts) row.element.querySelector(".match").textContent = found.fits && found.note ? found.note : "";
      if (found.fits && row.element.matches(".card")) { sum.findings += 1; sum.elements += found.n || 0; }
      if (row.element.drawn) filterSamples(row.element, wanted);
    }
    for (const one of sections) { one.limit = WINDOW; show(one); describe(one, wanted, text, narrowed); }
    shrink(wanted);
    say(wanted, text, narrowed, sum);
    write();
  }

  /** Show the rows of a section that match, the first of them if they are many. */
  function show(one) {
    let shown = 0;
    for (const row of one.rows) {
      row.element.hidden = !row.fits || shown >= one.limit;
      if (row.fits) shown += 1;
    }
    for (const group of one.section.querySelectorAll(".by-library")) group.hidden = !group.querySelector(".f:not([hidden])");
    const left = shown - Math.min(shown, one.limit);
    if (left && !one.more) {
      one.more = Object.assign(document.createElement("button"), { type: "button", className: "more" });
      one.more.addEventListener("click", () => extend(one));
      one.section.append(one.more);
      watch.observe(one.more);
    }
    if (one.more) { one.more.hidden = !left; one.more.textContent = `${count(left)} more`; }
  }

  function extend(one) { one.limit += WINDOW; show(one); }
  const watch = new IntersectionObserver((seen) => {
    for (const entry of seen) if (entry.isIntersecting) extend(sections.find((one) => one.more === entry.target));
  }, { rootMargin: "400px" });

  /** Of a card's discrepancies those that match. */
  function filterSamples(card, wanted) {
    let fit = 0;
    for (const body of card.querySelectorAll("tbody.sample")) {
      const { m, t, c, f } = body.sample;
      const fits = !(("m" in wanted && wanted.m !== m) || ("t" in wanted && !t.includes(wanted.t)) || ("c" in wanted && wanted.c !== c) || ("f" in wanted && !f.includes(wanted.f)));
      body.hidden = !fits || fit >= card.limit;
      fit += fits;
    }
    const more = card.querySelector(".more-samples");
    if (more) { more.hidden = fit <= card.limit; more.textContent = `${count(fit - card.limit)} more`; }
    const note = card.querySelector(".no-sample");
    if (note) note.hidden = Boolean(card.querySelector("tbody.sample:not([hidden])"));
  }

  /** How many of a section's rows match, and which filters its rows know nothing of. */
  function describe(one, wanted, text, narrowed) {
    const unknown = Object.entries(KINDS).filter(([, k]) => k in wanted && !one.dims.includes(k)).map(([name]) => name);
    if (text.asked.length && !one.rows.some((row) => row.patterns)) unknown.push("verdicts of backends");
    const shown = one.rows.filter((row) => row.fits).length;
    const parts = [];
    if (narrowed && one.rows.length) parts.push(shown ? `${count(shown)} of ${count(one.rows.length)} match.` : "None match the filters.");
    if (unknown.length) parts.push(`Not narrowed by ${unknown.join(", ")}: these rows don't record it.`);
    one.section.querySelector(".narrowed").textContent = parts.join(" ");
    one.section.classList.toggle("none", Boolean(narrowed && one.rows.length && !shown));
  }

  /** The cases of the matrix that match the filters, by backend and operator, then by verdict. */
  function casesBy(wanted) {
    const found = new Map();
    for (const [b, o, m, one, other, v, n] of cube) {
      const at = { b, o, m, v };
      const fits = Object.entries(wanted).every(([k, want]) => !cubeKinds.has(k) || (k === "t" ? want === one || want === other : at[k] === want));
      if (!fits) continue;
      const key = `${b} ${o}`;
      if (!found.has(key)) found.set(key, new Map());
      found.get(key).set(verdicts[v], (found.get(key).get(verdicts[v]) || 0) + n);
    }
    return found;
  }

  /** Leave out of the matrix what the filters leave out, and count again in its cells. */
  function shrink(wanted) {
    const grid = document.querySelector(".grid");
    if (!grid) return;
    const again = cube.length && ["m", "t", "v"].some((k) => k in wanted && cubeKinds.has(k));
    const found = again ? casesBy(wanted) : null;
    const there = (cell) => !("o" in wanted) || Number(cell.dataset.o) === wanted.o;
    for (const cell of grid.querySelectorAll("[data-o]")) {
      cell.hidden = !there(cell);
      if (cell.tagName !== "TD") continue;
      cell.unfiltered = cell.unfiltered || { look: cell.className, words: cell.textContent, title: cell.title };
      const now = found ? recount(found.get(`${cell.parentElement.dataset.first} ${cell.dataset.o}`), "foreign" in cell.dataset) : cell.unfiltered;
      cell.className = now.look;
      cell.title = now.title;
      (cell.firstElementChild || cell).textContent = now.words;
    }
    for (const row of grid.querySelectorAll("tbody tr")) row.hidden = "b" in wanted && !row.dataset.b.split(" ").includes(String(wanted.b));
    for (const head of grid.querySelectorAll("[data-source]")) {
      const own = [...grid.querySelectorAll("thead th[data-o]")].filter((one) => !one.hidden && one.title.startsWith(`${head.dataset.source}.`));
      head.hidden = !own.length;
      head.colSpan = Math.max(1, own.length);
    }
  }

  function recount(cases, foreign) {
    if (!cases) return { look: "absent", words: "", title: "" };
    const sums = { failed: ["error", "crash", "timeout"].reduce((sum, one) => sum + (cases.get(one) || 0), 0) };
    for (const [verdict, n] of cases) sums[verdict === "deviates" && foreign ? "hazard" : verdict] = n;
    const title = [...cases].map(([verdict, n]) => `${count(n)} ${verdict}`).join(", ");
    const [verdict, mark, look] = MARKS.find(([one]) => sums[one]) || ["", "", "absent"];
    const n = look === "pass" ? (sums.exact || 0) + (sums["working-precision"] || 0) : sums[verdict];
    const compact = n < 10000 ? String(n) : `${Math.floor(n / 1000)}k`;
    return { look, words: look === "idle" || !n ? mark : `${mark} ${compact}${sums.failed && mark !== "!" ? "!" : ""}`, title };
  }

  function say(wanted, text, narrowed, sum) {
    const parts = [narrowed ? `${count(sum.findings)} ${sum.findings === 1 ? "finding" : "findings"}` : ""];
    if (narrowed && sum.elements) parts.push(`${count(sum.elements)} deviating elements`);
    if (narrowed && cube.length && Object.keys(wanted).some((k) => cubeKinds.has(k))) {
      const sums = new Map();
      for (const cases of casesBy(wanted).values()) for (const [verdict, n] of cases) sums.set(verdict, (sums.get(verdict) || 0) + n);
      const rest = Object.entries(KINDS).filter(([, k]) => k in wanted && !cubeKinds.has(k)).map(([name]) => name);
      const all = [...sums.values()].reduce((a, b) => a + b, 0);
      parts.push(`${count(all)} cases${rest.length ? ` (whatever ${rest.join(" and ")})` : ""}: ${verdicts.filter((one) => sums.has(one)).map((one) => `${count(sums.get(one))} ${one}`).join(", ") || "none"}`);
    }
    status.textContent = [...text.wrong, ...parts, missing].filter(Boolean).join(" · ");
  }

  let writing = false;
  let at = "";
  let missing = "";
  /** The address of the present view. */
  function address() {
    const parts = [...Object.keys(KINDS), "text"].filter((name) => form.elements[name].value)
      .map((name) => `${name}=${encodeURIComponent(form.elements[name].value)}`);
    if (at) parts.push(parts.length ? `at=${encodeURIComponent(at)}` : encodeURIComponent(at));
    return `#${parts.join("&")}`;
  }

  /** Write the view into the address; `go` makes the one before reachable by the back button. */
  function write(go = false) {
    if (writing || address() === (location.hash || "#")) return;
    if (go) history.pushState(null, "", address());
    else history.replaceState(null, "", address());
  }

  /** Take the view from the address. */
  function read() {
    const hash = location.hash.slice(1);
    const params = new URLSearchParams(hash.includes("=") ? hash : "");
    for (const name of Object.keys(KINDS)) choose(form.elements[name], params.get(name) || "");
    form.elements.text.value = params.get("text") || "";
    at = params.get("at") || (hash.includes("=") ? "" : decoded(hash));
    missing = at && !target(at) ? `Nothing here is called ${at.slice(0, 40)}.` : "";
    writing = true;
    apply();
    writing = false;
    if (Object.keys(chosen()).length && matchMedia("(min-width: 800px)").matches) form.querySelector("details").open = true;
    const go = () => { if (at) visit(at); };
    if (document.readyState === "complete") go();
    else window.addEventListener("load", go, { once: true }); // before, the browser looks for the place itself
  }

  function decoded(text) { try { return decodeURIComponent(text); } catch { return text; } }

  function choose(select, value) {
    for (const option of select.querySelectorAll("[data-unknown]")) option.remove();
    if (value && ![...select.options].some((option) => option.value === value)) {
      const option = new Option(`${value} (not here)`, value);
      option.dataset.unknown = "1";
      select.add(option);
    }
    select.value = value;
  }

  const target = (id) => cards.holding(id) || document.getElementById(id);

  /** Go to a place, open it, and see to it that no window or filter hides it. */
  function visit(id) {
    const place = shownInstead(target(id));
    if (!place) return;
    const card = place.closest(".card");
    if (card) { uncover(card); open(card); }
    for (let up = place; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    const sample = card && [...card.querySelectorAll("tbody.sample")].find((one) => one.id === id);
    if (sample) { sample.hidden = false; cards.toggle(sample, true); }
    const first = place.matches("section") && Object.keys(chosen()).length && place.querySelector(".card:not([hidden])");
    if (first) open(first);
    const seen = sample || place;
    const focus = sample ? sample.querySelector("a") : card ? card.querySelector("summary") : place;
    if (focus === place) place.tabIndex = -1;
    seen.scrollIntoView();
    requestAnimationFrame(() => { // takes no focus before
      settle(seen, 40, NaN, 0);
      focus.focus({ preventScroll: true });
    });
  }

  /** Scroll until a place rests for three frames, or so many are over: what is drawn on the way has another height. */
  function settle(place, frames, rest, quiet) {
    const moved = !(Math.abs(place.getBoundingClientRect().top - rest) < 1);
    if (moved) place.scrollIntoView();
    const now = moved ? 0 : quiet + 1;
    if (frames && now < 3) {
      const top = place.getBoundingClientRect().top;
      requestAnimationFrame(() => settle(place, frames - 1, top, now));
    }
  }

  /** The place itself; for a chapter that the filters leave empty, the first one where they leave something. */
  function shownInstead(place) {
    if (!place || !place.matches("#findings > section") || place.querySelector(".f:not([hidden])")) return place;
    const first = main.querySelector("#findings .card:not([hidden])");
    return first ? first.closest("section") : place;
  }

  /** Open a card without making it the view's address. */
  function open(card) {
    card.quiet = !card.open;
    card.open = true;
    fill(card);
  }

  function fill(card) {
    card.limit ??= WINDOW;
    cards.draw(card);
    filterSamples(card, { ...chosen(), ...typed().set });
  }

  function uncover(element) {
    const row = byElement.get(element);
    const one = sections.find((section) => section.rows.includes(row));
    if (!one) return;
    row.fits = true;
    one.limit = Math.max(one.limit, one.rows.filter((other) => other.fits).indexOf(row) + 1);
    show(one);
  }

  async function copy(button, text) {
    let done = true;
    try { await navigator.clipboard.writeText(text); } catch { done = copyOldWay(text); }
    const label = button.dataset.label || (button.dataset.label = button.textContent);
    button.textContent = done ? "copied" : "not copied";
    document.getElementById("said").textContent = done ? "Copied." : "The browser did not let the text be copied.";
    setTimeout(() => { button.textContent = label; }, 1500);
  }

  function copyOldWay(text) {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    try { return document.execCommand("copy"); } finally { area.remove(); }
  }

  /** Sort a table by a column: numbers as numbers, the other way round at the second time. */
  function sort(head) {
    const table = head.closest("table");
    const column = [...head.parentElement.children].indexOf(head);
    const numeric = head.classList.contains("n");
    const before = head.getAttribute("aria-sort");
    const order = before ? (before === "ascending" ? "descending" : "ascending") : numeric ? "descending" : "ascending";
    for (const one of head.parentElement.children) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const value = (row) => row.children[column]?.textContent.trim() || "";
    const number = (words) => Number.parseFloat(words.replace(/[^\d.eE+-]/g, "")) || 0;
    const compare = (one, other) => (numeric ? number(value(one)) - number(value(other)) : value(one).localeCompare(value(other), "en", { numeric: true }));
    const body = table.tBodies[0];
    const found = [...body.rows].sort((one, other) => (order === "ascending" ? 1 : -1) * compare(one, other));
    body.append(...found);
    const own = sections.find((one) => one.section.contains(table));
    if (own) { own.rows.sort((one, other) => found.indexOf(one.element) - found.indexOf(other.element)); show(own); }
  }

  for (const table of main.querySelectorAll("table.sortable")) {
    for (const head of table.tHead.rows[0].cells) {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
      button.append(...head.childNodes);
      head.append(button);
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button && button.classList.contains("copy")) copy(button, button.previousElementSibling.textContent);
    if (button && button.classList.contains("sort")) sort(button.closest("th"));
    if (button && button.id === "copy-link") copy(button, location.href);
    if (button && button.id === "clear") { form.reset(); at = missing = ""; for (const name of Object.keys(KINDS)) choose(form.elements[name], ""); apply(); }
    const link = event.target.closest('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const href = link.getAttribute("href").slice(1);
    if (href.includes("=")) { if (location.hash.slice(1) === href) read(); return; }
    event.preventDefault();
    at = href;
    missing = "";
    write(true);
    const sample = link.closest("tbody.sample");
    if (sample) cards.toggle(sample); else visit(href);
  });
  main.addEventListener("click", (event) => {
    if (!event.target.matches(".more-samples")) return;
    const card = event.target.closest(".card");
    card.limit += WINDOW;
    fill(card);
  });
  main.addEventListener("toggle", (event) => {
    const card = event.target;
    if (!card.matches(".card")) return;
    if (card.open) {
      fill(card);
      if (!card.quiet && cards.holding(at) !== card) { at = card.id; write(); }
      card.quiet = false;
    }
    else if (cards.holding(at) === card) { at = ""; write(); }
  }, true);

  /** The next or the previous finding from the one that has the focus. */
  function step(by) {
    const found = [...main.querySelectorAll(".card:not([hidden]) > summary")].filter((one) => one.offsetParent);
    const now = document.activeElement.closest(".card");
    const next = now ? found.findIndex((one) => one.parentElement === now) + by : by > 0 ? 0 : found.length - 1;
    const summary = found[Math.max(0, Math.min(found.length - 1, next))];
    if (!summary) return;
    summary.focus({ preventScroll: true });
    summary.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "Escape") {
      const card = event.target.closest(".card[open]");
      if (event.target === form.elements.text) { form.elements.text.value = ""; apply(); form.elements.text.blur(); } else if (card) { card.open = false; card.querySelector("summary").focus(); }
    } else if (!typing && event.key === "/") { event.preventDefault(); form.elements.text.focus(); } else if (!typing && (event.key === "j" || event.key === "k")) step(event.key === "j" ? 1 : -1);
  });
  let soon = 0;
  form.addEventListener("input", (event) => {
    at = missing = "";
    clearTimeout(soon);
    if (event.target.name === "text") soon = setTimeout(apply, 150);
    else { write(true); apply(); } // the back button goes back to the choice before
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  window.addEventListener("popstate", read);
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) { one.open = true; if (one.matches(".card")) cards.draw(one); }
    for (const one of sections) { one.limit = Infinity; show(one); }
  });
  window.addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    for (const one of sections) { one.limit = WINDOW; show(one); }
  });
  read();
})();
