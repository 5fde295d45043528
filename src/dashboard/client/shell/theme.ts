import { computed, effect, signal } from '@preact/signals';

const themes = ['system', 'light', 'dark'] as const;

export type Theme = (typeof themes)[number];

const key = 'proximal-theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const systemScheme = signal(prefersDark.matches);

/** What the user has chosen; kept where the browser allows it. */
export const theme = signal<Theme>(readTheme());

/** Whether the page is dark now. */
export const isDark = computed(() =>
  theme.value === 'system' ? systemScheme.value : theme.value === 'dark',
);

/** Puts the theme on the page, now and whenever it changes. */
export function followTheme(): void {
  prefersDark.addEventListener('change', ({ matches }) => {
    systemScheme.value = matches;
  });
  effect(() => {
    if (theme.value === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
    keepTheme(theme.value);
  });
}

/** The next of system, light and dark. */
export function nextTheme(now: Theme): Theme {
  return themes[(themes.indexOf(now) + 1) % themes.length]!;
}

/** A colour of theme.css as a canvas needs it: resolved for the present scheme. */
export function resolveColour(variable: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${variable})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

// A page from a file, or in private, may not be allowed to keep anything.
function readTheme(): Theme {
  try {
    return themes.find((one) => one === localStorage.getItem(key)) ?? 'system';
  } catch {
    return 'system';
  }
}

function keepTheme(chosen: Theme): void {
  try {
    localStorage.setItem(key, chosen);
  } catch {
    // It holds until the page is closed.
  }
}
