// Runs before the first paint so that a dark page never flashes light. The key is the one src/theme/colorScheme.ts writes.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem("playground-theme");
  } catch (error) {
    chosen = null;
  }
  var dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.documentElement.dataset.mantineColorScheme = dark ? "dark" : "light";
})();
