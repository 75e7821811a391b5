// Runs before the first paint: restores the chosen theme, and makes sure that uPlot has a valid language.
(() => {
  "use strict";
  try {
    const theme = localStorage.getItem("slackwater-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // a local file may have no storage
  }
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: "en-US", configurable: true }); // with LANG=C, a browser reports en-US@posix
  }
})();
