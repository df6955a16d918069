"use strict";
(() => {
  const KINDS = { backend: "b", operator: "o", mode: "m", type: "t", flag: "f", clause: "c", verdict: "v" };
  const form = document.getElementById("filters");
  const status = document.getElementById("status");
  const cube = JSON.parse(document.getElementById("counts").dataset.cube);
  const cubeKinds = new Set(document.getElementById("counts").dataset.dims.split(" "));
  const rows = [...document.querySelectorAll(".f")].map((element) => ({
    element,
    sorts: element.dataset.k ? JSON.parse(element.dataset.k) : null,
    total: Number(element.dataset.n || 0),
    at: Object.fromEntries(Object.values(KINDS).filter((k) => k in element.dataset)
      .map((k) => [k, new Set(element.dataset[k].split(" "))])),
    inner: element.matches(".f .f"),
    text: null,
  }));
  const sections = [...document.querySelectorAll("section[data-dims]")];
  const verdicts = [...form.elements.verdict.options].slice(1).map((option) => option.value);
  const count = (n) => n.toLocaleString("en");
  document.documentElement.classList.add("js");

  /** The filters that are set: short name to position, -1 for a value that nothing here has. */
  function chosen() {
    const found = {};
    for (const [name, short] of Object.entries(KINDS)) {
      const select = form.elements[name];
      if (select.value) found[short] = select.selectedOptions[0].dataset.unknown ? -1 : select.selectedIndex - 1;
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

  function allowed(row, wanted) {
    return Object.entries(wanted).every(([k, position]) => !(k in row.at) || row.at[k].has(String(position)));
  }

  function holds(row, words) {
    if (!words.length) return true;
    row.text = row.text || row.element.textContent.toLowerCase();
    return words.every((word) => row.text.includes(word));
  }

  function apply() {
    const wanted = chosen();
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const narrowed = words.length || Object.keys(wanted).length;
    let causes = 0;
    let elements = 0;
    let cut = false;
    for (const row of rows) {
      let shown = allowed(row, wanted) && (row.inner || holds(row, words));
      if (row.sorts) {
        const listed = row.sorts.reduce((sum, sort) => sum + sort[5], 0);
        const inner = ["m", "t", "c", "f"].some((k) => k in wanted);
        const n = inner ? matching(row.sorts, wanted) : row.total;
        shown = shown && n > 0;
        const least = inner && listed < row.total ? "at least " : "";
        row.element.querySelector(".match").textContent =
          inner && shown ? `${least}${count(n)} of ${count(row.total)} match the filters` : "";
        if (shown) { causes += 1; elements += n; cut = cut || Boolean(least); }
      }
      row.element.hidden = !shown;
    }
    for (const note of document.querySelectorAll(".no-sample")) {
      note.hidden = Boolean(note.parentElement.querySelector(".f:not([hidden])"));
    }
    for (const section of sections) describe(section, wanted, words);
    say(wanted, narrowed, causes, elements, cut);
    write();
  }

  /** How many of a section's rows are shown, and which filters its rows know nothing of. */
  function describe(section, wanted, words) {
    const known = section.dataset.dims.split(" ");
    const unknown = Object.entries(KINDS).filter(([, k]) => k in wanted && !known.includes(k)).map(([name]) => name);
    const own = [...section.querySelectorAll(".f")].filter((row) => !row.matches(".f .f"));
    const shown = own.filter((row) => !row.hidden).length;
    const narrowed = words.length || Object.keys(wanted).length;
    const parts = [];
    if (narrowed && own.length) parts.push(shown ? `${count(shown)} of ${count(own.length)} shown.` : "None match the filters.");
    if (unknown.length) parts.push(`Not narrowed by ${unknown.join(", ")}: these rows don't record it.`);
    section.querySelector(".narrowed").textContent = parts.join(" ");
  }

  function say(wanted, narrowed, causes, elements, cut) {
    const sums = verdicts.map(() => 0);
    const inCube = Object.entries(wanted).filter(([k]) => cubeKinds.has(k));
    let all = 0;
    for (const [b, o, m, one, other, v, n] of cube) {
      all += n;
      const at = { b, o, m, v };
      if (inCube.every(([k, want]) => (k === "t" ? want === one || want === other : at[k] === want))) sums[v] += n;
    }
    const some = sums.map((n, i) => (n ? `${count(n)} ${verdicts[i]}` : "")).filter(Boolean).join(", ");
    const total = sums.reduce((a, b) => a + b, 0);
    const rest = Object.entries(KINDS).filter(([, k]) => k in wanted && !cubeKinds.has(k)).map(([name]) => name);
    if (form.elements.text.value) rest.push("text");
    const aside = rest.length ? ` (whatever ${rest.join(" and ")})` : "";
    const tested = cube.length ? ` Results${aside}: ${count(total)} of ${count(all)}${some ? `: ${some}` : ""}.` : "";
    const left = Number(document.getElementById("counts").dataset.leftOut);
    const beyond = left ? ` of those shown (${count(left)} more are only in discrepancies.parquet)` : "";
    status.textContent = narrowed
      ? `${count(causes)} causes${beyond} with ${cut ? "at least " : ""}${count(elements)} deviating elements match.${tested}`
      : `No filter is set.${tested}`;
  }

  let writing = false;
  let at = "";
  function write() {
    if (writing) return;
    const parts = [...Object.keys(KINDS), "text"].filter((name) => form.elements[name].value)
      .map((name) => `${name}=${encodeURIComponent(form.elements[name].value)}`);
    if (at) parts.push(parts.length ? `at=${encodeURIComponent(at)}` : at);
    history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : "#");
  }

  /** Take the view from the address. */
  function read(go) {
    const hash = location.hash.slice(1);
    const params = new URLSearchParams(hash.includes("=") ? hash : "");
    for (const name of Object.keys(KINDS)) choose(form.elements[name], params.get(name) || "");
    form.elements.text.value = params.get("text") || "";
    at = params.get("at") || (hash.includes("=") ? "" : decodeURIComponent(hash));
    writing = true;
    apply();
    writing = false;
    if (Object.keys(chosen()).length) form.closest("details").open = true;
    if (go && at) visit(at);
  }

  function choose(select, value) {
    for (const option of select.querySelectorAll("[data-unknown]")) option.remove();
    if (value && ![...select.options].some((option) => option.value === value)) {
      const option = new Option(`${value} (not here)`, value);
      option.dataset.unknown = "1";
      select.add(option);
    }
    select.value = value;
  }

  function visit(id) {
    const target = document.getElementById(id);
    if (!target) return;
    for (let up = target; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    const first = target.querySelector("details.f:not([hidden])");
    if (first && id === "causes" && Object.keys(chosen()).length) first.open = true;
    target.scrollIntoView();
    requestAnimationFrame(() => target.scrollIntoView()); // what was drawn on the way may have another height
    const focus = target.tagName === "DETAILS" ? target.querySelector("summary") : target;
    if (focus === target) target.tabIndex = -1;
    focus.focus({ preventScroll: true });
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

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button && button.classList.contains("copy")) copy(button, button.previousElementSibling.textContent);
    if (button && button.id === "copy-link") copy(button, location.href);
    if (button && button.id === "clear") { form.reset(); at = ""; for (const name of Object.keys(KINDS)) choose(form.elements[name], ""); apply(); }
    const link = event.target.closest('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const href = link.getAttribute("href").slice(1);
    if (href.includes("=")) {
      if (location.hash.slice(1) === href) read(true);
      return;
    }
    event.preventDefault();
    at = href;
    write();
    visit(href);
  });
  let soon = 0;
  form.addEventListener("input", (event) => {
    at = "";
    clearTimeout(soon);
    soon = setTimeout(apply, event.target.name === "text" ? 150 : 0);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  window.addEventListener("hashchange", () => read(true));
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  window.addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
  if (matchMedia("(min-width: 800px)").matches) form.closest("details").open = true;
  read(true);
})();
