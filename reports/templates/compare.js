/** Holds two runs against each other: their cells and causes are in a script of each run, which is loaded when asked. */
"use strict";
(() => {
  const SIGNS = { new: "+", changed: "~", gone: "−", renamed: "→" };
  const MEANINGS = { new: "not there in the first run", changed: "the same cases were judged, and more or fewer elements deviate", renamed: "the same elements, by another name", gone: "its operator ran, and it is not there any more", unchanged: "as many elements in both" };
  const form = document.getElementById("two-runs");
  const said = document.getElementById("said");
  const place = document.getElementById("compared");
  const renamed = JSON.parse(place.dataset.renamed);
  const count = (number) => number.toLocaleString("en");

  function element(name, look, ...children) {
    const made = document.createElement(name);
    if (look) made.className = look;
    made.append(...children);
    return made;
  }

  function linked(words, to) {
    const link = element("a", "", words);
    link.href = to;
    return link;
  }

  /** A run's cells and causes. A script is read from a folder, too, where fetch() is not allowed. */
  function load(name) {
    const known = window.tiebreakRuns?.[name];
    if (known) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `runs/${encodeURIComponent(name)}/cells.js`;
      script.addEventListener("load", () => (window.tiebreakRuns?.[name] ? resolve(window.tiebreakRuns[name]) : reject(new Error(name))));
      script.addEventListener("error", () => reject(new Error(name)));
      document.head.append(script);
    });
  }

  /** The backends of both runs in pairs: by name, of several releases those that are equal first. */
  function pairs(one, other) {
    const left = one.backends.map((_, at) => at), right = other.backends.map((_, at) => at), found = [];
    for (const same of [(a, b) => a[0] === b[0] && a[2] === b[2], (a, b) => a[0] === b[0]]) {
      for (const a of [...left]) {
        const b = right.find((at) => same(one.backends[a], other.backends[at]));
        if (b === undefined) continue;
        found.push([a, b]);
        left.splice(left.indexOf(a), 1);
        right.splice(right.indexOf(b), 1);
      }
    }
    return { found: found.sort((x, y) => x[0] - y[0]), left, right };
  }

  const cellsOf = (run, at) => new Map(run.cells.filter((cell) => cell[0] === at).map((cell) => [cell[1], { counts: cell[2], judged: cell[3], ran: cell[4], cases: cell[5], judgedCases: cell[6] }]));
  const causesOf = (run, at, operator) => new Map(run.causes.filter((one) => one[0] === at && one[1] === operator).map((one) => [one[2], { page: one[2], text: one[3], elements: one[4], foreign: one[5] }]));

  /** The newest name of a cause, by its page. */
  function present(page) {
    const seen = new Set();
    for (; page in renamed && !seen.has(page); page = renamed[page]) seen.add(page);
    return page;
  }

  /** What became of the causes of an operator that ran in both runs. */
  function changes(one, other, a, b, operator, alike) {
    const [old, now] = [causesOf(one, a, operator), causesOf(other, b, operator)];
    const rows = [], former = new Map([...old.keys()].filter((page) => !now.has(page)).map((page) => [present(page), page]));
    for (const page of [...now.keys()].filter((one) => !old.has(one) && former.has(present(one)))) {
      const was = old.get(former.get(present(page)));
      rows.push({ status: "renamed", operator, ...now.get(page), was, before: was.elements, after: now.get(page).elements });
    }
    const named = new Set(rows.flatMap((row) => [row.page, row.was.page]));
    for (const page of new Set([...now.keys(), ...old.keys()].filter((one) => !named.has(one)))) {
      const [before, after] = [old.get(page), now.get(page)];
      const equal = before && after && (before.elements === after.elements || !alike);
      const status = !before ? "new" : !after ? "gone" : equal ? "unchanged" : "changed";
      rows.push({ status, operator, ...(after || before), before: before?.elements || 0, after: after?.elements || 0 });
    }
    return rows;
  }

  function table(heads, label, rows, look) {
    const made = element("table", look, element("thead", "", element("tr", "", ...heads)), element("tbody", "", ...rows));
    const box = element("div", "scroll", made);
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", label);
    return box;
  }

  function head(words, look = "") {
    const made = element("th", look, words);
    made.scope = "col";
    return made;
  }

  function grid(rows, operators) {
    const heads = operators.map((one) => { const made = head(""); made.append(element("span", "", one.split(".").pop())); made.title = one; return made; });
    const lines = rows.map((row) => {
      const name = element("th", "", row.who);
      name.scope = "row";
      return element("tr", "", name, ...operators.map((one) => cell(row, one)));
    });
    return table([element("td", ""), ...heads], "Backend by operator: what changed", lines, `grid matrix-of-runs${operators.length > 10 ? " many" : operators.length < 4 ? " few" : ""}`);
  }

  function cell(row, operator) {
    if (!row.both.has(operator)) return element("td", "absent", "·");
    const own = row.changes.filter((one) => one.operator === operator && one.status in SIGNS);
    const parts = Object.keys(SIGNS).map((status) => [SIGNS[status], own.filter((one) => one.status === status).length]).filter(([, n]) => n);
    const more = row.both.get(operator).failing;
    const words = [...parts.map(([sign, n]) => `${sign}${n}`), ...(more > 0 ? [`!${count(more)}`] : [])].join(" ");
    const worse = own.filter((one) => one.status === "new" || (one.status === "changed" && one.after > one.before));
    const look = worse.some((one) => !one.foreign) ? "fail" : more > 0 ? "broke" : worse.length ? "hazard" : own.some((one) => one.status !== "renamed") ? "pass" : "same";
    const made = element("td", look, words || "=");
    made.title = own.map((one) => `${one.status}: ${one.text}`).join("; ") || "nothing changed";
    return made;
  }

  const failed = (counts) => ["error", "crash", "timeout"].reduce((sum, name) => sum + (counts[name] || 0), 0);

  function compared(one, other, [a, b]) {
    const [old, now] = [cellsOf(one, a), cellsOf(other, b)];
    const names = [...now.keys()].filter((name) => old.has(name) && old.get(name).ran + failed(old.get(name).counts) && now.get(name).ran + failed(now.get(name).counts));
    const both = new Map(names.map((name) => [name, { old: old.get(name), now: now.get(name), failing: failed(now.get(name).counts) - failed(old.get(name).counts) }]));
    const found = names.flatMap((name) => changes(one, other, a, b, name, old.get(name).judgedCases === now.get(name).judgedCases));
    const versions = [...new Set([one.backends[a][2], other.backends[b][2]])].join(" → ");
    return { who: `${one.backends[a][0]} ${versions}`, both, changes: found };
  }

  function causeList(status, rows) {
    const lines = rows.flatMap((row) => row.changes.filter((one) => one.status === status).map((one) => element(
      "li", "", element("span", "sign", SIGNS[status] || "="), " ", element("strong", "", one.operator.split(".").pop()), one.foreign ? " ⇄ " : " ", ...(one.was ? [linked(one.was.text, one.was.page), " is called "] : []), linked(one.text, one.page), " ",
      element("span", "soft", `${row.who}: ${count(one.before)} → ${count(one.after)} elements`))));
    if (!lines.length) return [];
    const title = element("h2", "", `${status[0].toUpperCase()}${status.slice(1)} `, element("span", "soft", `${count(lines.length)}, ${MEANINGS[status]}`));
    return [element("section", "", title, element("ul", "plain", ...lines))];
  }

  function verdicts(rows) {
    const lines = rows.flatMap((row) => [...row.both].map(([operator, { old, now }]) => {
      const names = [...new Set([...Object.keys(old.counts), ...Object.keys(now.counts)])];
      const moved = names.filter((name) => (old.counts[name] || 0) !== (now.counts[name] || 0)).map((name) => `${name} ${count(old.counts[name] || 0)} → ${count(now.counts[name] || 0)}`);
      const cases = old.cases !== now.cases ? "others" : old.judgedCases !== now.judgedCases ? "the same; others ran" : "the same";
      const judged = old.judged === now.judged ? count(now.judged) : `${count(old.judged)} → ${count(now.judged)}`;
      return element("tr", "", element("td", "", row.who), element("td", "", operator), element("td", "", cases), element("td", "n", judged), element("td", "", moved.join(", ") || "the same"));
    }));
    return element("section", "", element("h2", "", "What was compared"), table([head("backend"), head("operator"), head("cases"), head("elements judged", "n"), head("cases by verdict")], "What was compared", lines, "facts"));
  }

  function only(run, left, which) {
    return left.map((at) => element("li", "", `${run.backends[at][0]} ${run.backends[at][2]}: only in the ${which} run, not compared`));
  }

  function draw(one, other) {
    const { found, left, right } = pairs(one, other);
    const rows = found.map((pair) => compared(one, other, pair)).filter((row) => row.both.size);
    const operators = [...new Set(rows.flatMap((row) => [...row.both.keys()]))].sort();
    const sums = Object.keys(SIGNS).map((status) => `${count(rows.reduce((sum, row) => sum + row.changes.filter((each) => each.status === status).length, 0))} ${status}`);
    said.textContent = rows.length ? `Root causes: ${sums.join(", ")}.` : "No case ran in both runs.";
    const about = (run, name) => linked(`${run.created.slice(0, 10)} ${run.name}`, `runs/${encodeURIComponent(name)}/report.html`);
    place.replaceChildren(
      element("p", "", about(one, form.elements.a.value), " → ", about(other, form.elements.b.value)),
      ...(rows.length ? [grid(rows, operators), element("p", "soft note", "Root causes: + new, ~ changed, − gone, → renamed, = nothing changed, · did not run in both. !: more cases fail."),
        ...["new", "changed", "gone", "renamed", "unchanged"].flatMap((status) => causeList(status, rows)), verdicts(rows)] : []),
      element("ul", "plain", ...only(one, left, "first"), ...only(other, right, "second")),
    );
  }

  async function show() {
    const names = [form.elements.a.value, form.elements.b.value];
    try {
      const [one, other] = await Promise.all(names.map(load));
      if (names[0] === form.elements.a.value && names[1] === form.elements.b.value) draw(one, other); // else chosen anew meanwhile
    } catch (error) {
      said.textContent = `The run ${error.message} can't be read.`;
      place.replaceChildren();
    }
  }

  function choose() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    for (const letter of ["a", "b"]) {
      const select = form.elements[letter];
      if ([...select.options].some((option) => option.value === wanted.get(letter))) select.value = wanted.get(letter);
    }
    show();
  }

  function chosen() {
    location.hash = new URLSearchParams({ a: form.elements.a.value, b: form.elements.b.value });
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  for (const letter of ["a", "b"]) form.elements[letter].addEventListener("change", chosen);
  document.getElementById("swap").addEventListener("click", () => {
    [form.elements.a.value, form.elements.b.value] = [form.elements.b.value, form.elements.a.value];
    chosen();
  });
  addEventListener("hashchange", choose);
  choose();
})();
