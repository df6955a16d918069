/** Searches the index: every word must occur; what has it in its title comes first. */
"use strict";
(() => {
  const MOST = 200;
  const field = document.getElementById("site-q");
  const said = document.getElementById("said");
  const list = document.getElementById("found");
  const entries = window.tiebreakIndex.map(([kind, title, detail, href]) => (
    { kind, title, detail, href, head: title.toLowerCase(), text: `${kind} ${title} ${detail}`.toLowerCase() }));

  function element(name, look, ...children) {
    const made = document.createElement(name);
    if (look) made.className = look;
    made.append(...children);
    return made;
  }

  function line({ kind, title, detail, href }) {
    const link = element("a", "", title);
    link.href = href;
    return element("li", "", element("span", "kind", kind), " ", link, ...(detail ? [" ", element("span", "soft", detail)] : []));
  }

  function show() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = words.length ? entries.filter((one) => words.every((word) => one.text.includes(word))) : [];
    const score = (one) => words.filter((word) => one.head.includes(word)).length;
    hits.sort((one, other) => score(other) - score(one));
    list.replaceChildren(...hits.slice(0, MOST).map(line));
    const more = hits.length > MOST ? `, the first ${MOST} below` : "";
    said.textContent = words.length ? `${hits.length.toLocaleString("en")} found${more}` : `${entries.length.toLocaleString("en")} entries`;
  }

  field.value = new URLSearchParams(location.search).get("q") || "";
  field.addEventListener("input", () => {
    show();
    const address = field.value ? `?q=${encodeURIComponent(field.value)}` : location.pathname;
    try { history.replaceState(null, "", address); } catch { /* a file of some browsers has no history */ }
  });
  field.form.addEventListener("submit", (event) => event.preventDefault());
  show();
  field.focus();
})();
