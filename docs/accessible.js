// Names and roles that the theme leaves out, for screen readers and keyboards. The theme adds elements late, so watch for them.
function mend() {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  // only the outer lists of links are landmarks; the buttons of a code block are none
  for (const each of document.querySelectorAll(".md-nav .md-nav, .md-code__nav")) {
    each.setAttribute("role", "none");
    each.removeAttribute("aria-expanded");
    each.removeAttribute("aria-label");
    each.removeAttribute("aria-labelledby");
  }
  // what scrolls can be scrolled with the keyboard
  for (const each of document.querySelectorAll(".md-typeset__scrollwrap, math[display=block]")) {
    if (each.scrollWidth > each.clientWidth) each.setAttribute("tabindex", "0");
  }
}
document.addEventListener("DOMContentLoaded", () => {
  mend();
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
});
window.addEventListener("resize", mend);
