const KEY = "edgetable-studio-theme";

/** The themes in the order in which the switch goes through them. */
export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

/** The chosen theme; `system` follows the system's setting. */
export const currentTheme = (): Theme => {
  const stored = localStorage.getItem(KEY);
  return themes.find((theme) => theme === stored) ?? "system";
};

/** Shows a theme, and remembers it if it is given. */
export const applyTheme = (chosen?: Theme): void => {
  if (chosen) localStorage.setItem(KEY, chosen);
  const theme = chosen ?? currentTheme();
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
};
