/** What a card opens to: its picture, and its discrepancies with every answer to each. */
const cards = (() => {
  const run = JSON.parse(document.getElementById("counts").dataset.run);
  const WORDS = { e: "exact", c: "conforms", u: "unsupported", f: "failed", d: "deviates" };

  function element(name, look, ...children) {
    const made = document.createElement(name);
    if (look) made.className = look;
    made.append(...children);
    return made;
  }

  /** A word of a command line, as Python's shlex.quote writes it. */
  const quoted = (word) => (word && !/[^\w@%+=:,./-]/.test(word) ? word : `'${word.replaceAll("'", "'\"'\"'")}'`);

  function commands(sample) {
    if (run.level === "offline") return [];
    const repro = ["tiebreak", "repro", sample.id, "--run", run.folder];
    const again = ["tiebreak", "run", "-b", run.specs[sample.backend], "--case", sample.case];
    if (!run.operators.some((name) => sample.case.startsWith(name))) again.push("--from", run.folder);
    const lines = [[repro, "repro"], [[...again, "-o", "replay"], "replay"]].map(([words, look]) => [words.map(quoted).join(" "), look]);
    return lines.filter(([line]) => line.length <= run.longest).map(([line, look]) => { // half a command is dangerous
      const button = element("button", "copy", "copy");
      button.type = "button";
      return element("span", "copied", element("code", `command ${look}`, line), button);
    });
  }

  function operands(list) {
    return list.map(([name, bits, words]) => {
      const line = element("div", "", element("i", "", name), ` ${words}`);
      if (bits !== words) line.append(" ", element("small", "", bits));
      return line;
    });
  }

  const result = ([words, bits], sign = "") => [`${sign}${words}`, element("br"), element("small", "", bits)];

  /** A fraction as "5/2 = 2.5"; approximately, if it has no short decimal. */
  function ratio(words) {
    const [top, bottom] = words.split("/").map(Number);
    if (bottom === undefined) return words;
    const value = top / bottom;
    return `${words} ${2 ** Math.round(Math.log2(bottom)) === bottom && bottom <= 2 ** 20 ? "=" : "≈"} ${value}`;
  }

  /** Everything about one discrepancy. */
  function details(sample) {
    const list = element("dl", "");
    const add = (name, ...what) => list.append(element("dt", "", name), element("dd", "", ...what));
    if (sample.rounded) add("rounded", ratio(sample.rounded));
    if (sample.modes.length) {
      const grid = element("span", "modes");
      run.modes.forEach((mode, i) => {
        const same = sample.modes[i] === sample.got[0];
        grid.append(element("span", same ? "same" : "", `${mode} `, element("strong", "", sample.modes[i] || "–")));
      });
      add("each mode", grid);
    }
    for (const [answer, places] of sample.answers) {
      const names = places.map((place) => run.backends[place]).join(", ");
      const words = answer in WORDS ? (answer === "e" || answer === "c" ? `${sample.expected[0]} (${WORDS[answer]})` : WORDS[answer]) : `${answer} (deviates)`;
      add(words, names);
    }
    add("case", element("code", "", sample.case), ` ${sample.place}`);
    return element("div", "details", list, ...commands(sample));
  }

  function row(sample) {
    const line = element("tr", "");
    const link = element("a", "", sample.id);
    link.href = `#${sample.id}`;
    const expected = element("td", "n", ...result(sample.expected));
    if (sample.working) expected.append(element("div", "soft", "or ", ...result(sample.working), element("br"), "as written"));
    const facts = element("td", "", `${sample.clause}${sample.mode ? ` · ${sample.mode.toLowerCase().replaceAll("_", " ").replace("round ", "")}` : ""} · ${sample.types}`);
    for (const one of [sample.flags, sample.where]) if (one) facts.append(element("br"), element("span", "soft", one));
    line.append(element("td", "", link, element("br"), element("span", "soft", run.backends[sample.backend])), element("td", "mono", ...operands(sample.operands)),
      expected, element("td", "n deviates", ...result(sample.got, "✗ ")), element("td", "n", sample.away), facts);
    const more = element("tr", "more", element("td", ""));
    more.firstChild.colSpan = 6;
    more.hidden = true;
    const body = element("tbody", "sample", line, more);
    body.id = sample.id;
    Object.assign(body, { sample });
    return body;
  }

  /** Show or hide everything about a discrepancy. */
  function toggle(body, shown = body.lastChild.hidden) {
    if (!body.lastChild.firstChild.hasChildNodes()) body.lastChild.firstChild.append(details(body.sample));
    body.lastChild.hidden = !shown;
    body.querySelector("a").setAttribute("aria-expanded", String(shown));
  }

  function samples(found) {
    const heads = ["id, backend", "operands, bits", "expected", "got", "distance", "rule, mode, types, flags"];
    const table = element("table", "samples", element("thead", "", element("tr", "", ...heads.map((one, i) => element("th", i > 1 && i < 5 ? "n" : "", one)))));
    table.append(...found.samples.map(row));
    const box = element("div", "scroll", table);
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", `Discrepancies such as ${found.samples[0].id}`);
    const rest = found.all - found.samples.length;
    const none = element("p", "no-sample soft", "None of the rows shown here matches.");
    none.hidden = true;
    const link = element(run.records ? "a" : "span", "", "discrepancies.parquet");
    if (run.records) link.href = "discrepancies.parquet";
    const more = Object.assign(element("button", "more more-samples"), { type: "button", hidden: true });
    return [box, none, more, ...(rest > 0 ? [element("p", "soft", `${rest.toLocaleString("en")} more in `, link, ".")] : [])];
  }

  /** Draw the inside of a card once. */
  function draw(card) {
    if (card.drawn) return;
    card.drawn = true;
    for (const answer of card.querySelectorAll("[data-paths]")) {
      const picture = pictures.array(JSON.parse(answer.dataset.paths), Boolean(answer.querySelector(".deviates")));
      if (picture) answer.append(picture);
    }
    if (!card.dataset.d) return;
    const found = JSON.parse(card.dataset.d);
    const picture = found.picture && pictures.draw(found.picture);
    const place = card.querySelector(".drawn");
    if (picture) place.append(picture);
    place.append(...samples(found));
  }

  /** The card with an id in it: its own, another's that shares it, or that of one of its discrepancies. */
  function holding(id) {
    if (!/^[\w-]+$/.test(id)) return null;
    const here = document.getElementById(id);
    if (here) return here.closest(".card");
    return [...document.querySelectorAll(".card[data-d]")].find((card) => card.dataset.d.includes(`"id":"${id}"`)) || null;
  }

  return { draw, holding, toggle, run };
})();
