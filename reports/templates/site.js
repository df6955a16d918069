/** Draws the picture of a cause, and copies commands. */
"use strict";
document.documentElement.classList.add("js");
for (const place of document.querySelectorAll("[data-picture]")) {
  const drawn = pictures.draw(JSON.parse(place.dataset.picture));
  if (drawn) place.append(drawn);
}
for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(code); // where the browser has no clipboard for pages: one key more
    }
  });
}
