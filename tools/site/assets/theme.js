// Light or dark: as the machine has it, until the reader chooses. Time lines go by the name with "jp".
{
  const root = document.documentElement;
  const kept = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const dress = (name) => { root.dataset.theme = name; root.dataset.jpThemeLight = String(name !== "dark"); };
  dress(kept() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").onclick = () => {
      const name = root.dataset.theme === "dark" ? "light" : "dark";
      dress(name);
      try { localStorage.setItem("theme", name); } catch { /* it holds for this page */ }
    };
  });
}
