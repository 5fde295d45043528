import type { Page } from 'playwright-core';
import { expect } from 'vitest';

interface FocusedElement {
  /** As people hear it. */
  readonly name: string;
  /** Pixels of the line around it. */
  readonly outline: number;
}

/** What has the focus. */
export function readFocus(page: Page): Promise<FocusedElement> {
  return page.evaluate<FocusedElement>(`(() => {
    const element = document.activeElement;
    // After the last control, Tab leaves the page.
    if (element === document.body) return { name: '', outline: 0 };
    const label = element.labels?.[0]?.firstChild?.textContent;
    const name = element.getAttribute('aria-label') ?? label ?? element.textContent;
    const style = getComputedStyle(element);
    const isLine = style.outlineStyle !== 'none' && style.outlineColor !== 'rgba(0, 0, 0, 0)';
    return { name: name.trim(), outline: isLine ? parseFloat(style.outlineWidth) : 0 };
  })()`);
}

/** Presses Tab until what has the focus has this name, or begins with it; whatever has it on the way
 *  must show that. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = [];
  for (let i = 0; i < 150; i++) {
    await page.keyboard.press('Tab');
    const focused = await readFocus(page);
    if (focused.name !== '') expect(focused.outline, focused.name).toBeGreaterThanOrEqual(2);
    if (focused.name.startsWith(name)) return;
    passed.push(focused.name.slice(0, 40));
  }
  throw new Error(`Tab never comes to ${name}, only to ${passed.join(', ')}`);
}
