// Before anything is painted: the theme that was chosen, and a language that uPlot can format numbers in.
(() => {
  "use strict";
  try {
    const theme = localStorage.getItem("slackwater-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // a file may have no storage
  }
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: "en-US", configurable: true }); // started under LANG=C, it says en-US@posix
  }
})();
