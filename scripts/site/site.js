// What the theme leaves out for those who read by keyboard or by ear: a name for the search, and wide tables that arrow keys
// can scroll.
document.querySelector("[data-md-component=search]")?.setAttribute("aria-label", "Search");
const reachable = () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "Table");
  }
};
reachable();
new MutationObserver(reachable).observe(document.querySelector(".md-content"), { childList: true, subtree: true });
