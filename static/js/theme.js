// Runs before the page is painted, so that a chosen theme does not flash.
try {
  const theme = localStorage.getItem("sightline:theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* storage is off: the system's theme it is */ }
