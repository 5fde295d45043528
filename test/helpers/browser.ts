import axe from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { findBrowser } from './find-browser.ts';

/** Pages of the browser that a file's tests share. */
export interface TestBrowser {
  /** Opens a page that is closed after the test. Errors and policy violations on the page fail the
   *  test, unless they match `expected`. */
  open(options?: BrowserContextOptions & { readonly expected?: RegExp }): Promise<Page>;
}

/** Tests in a real browser; skipped if there is none. */
export function describeInBrowser(name: string, define: (browser: TestBrowser) => void): void {
  const executablePath = findBrowser();
  const why = 'no browser was found: install chromium, or name one in PROXIMAL_BROWSER';
  if (executablePath === undefined) {
    describe.skip(`${name} (skipped: ${why})`, () => define(closedBrowser));
    console.warn(`Skipped ${name}: ${why}`);
    return;
  }
  describe(name, { timeout: 120_000 }, () => {
    let browser: Browser;
    const contexts: BrowserContext[] = [];
    const problems: string[] = [];
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath });
    }, 60_000);
    afterAll(() => browser.close());
    afterEach(async () => {
      const found = problems.splice(0);
      for (const context of contexts.splice(0)) await context.close();
      expect(found).toEqual([]);
    });
    define({
      async open({ expected, ...options } = {}) {
        const context = await browser.newContext(options);
        contexts.push(context);
        const page = await context.newPage();
        await collectProblems(page, (problem) => {
          if (expected?.test(problem) !== true) problems.push(problem);
        });
        return page;
      },
    });
  });
}

const closedBrowser: TestBrowser = {
  open: () => Promise.reject(new Error('Internal: there is no browser')),
};

async function collectProblems(page: Page, add: (problem: string) => void): Promise<void> {
  page.on('console', (message) => {
    if (/error|warning/.test(message.type())) {
      add(`${message.type()}: ${message.text()} ${message.location().url}`);
    }
  });
  page.on('pageerror', (error) => add(`page: ${error.stack ?? error.message}`));
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI));`);
}

interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Checks the page with axe's default rules, and that nothing is wider than the window. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: readonly AxeViolation[] }>('axe.run()');
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
  expect(found).toEqual([]);
  const [content, window] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, innerWidth]',
  );
  expect(content).toBeLessThanOrEqual(window);
}

/** Waits until every chart in an open section has been drawn. */
export async function untilCharts(page: Page): Promise<void> {
  await page.locator('.chart-card .plot canvas').first().waitFor();
}

/** The numbers of a chart's legend by the names of its lines, each with its step. */
export async function readLegend(
  page: Page,
  chart: string,
): Promise<Record<string, { step: number; value: string }>> {
  const items = page
    .getByRole('figure', { name: chart, exact: true })
    .locator('.chart-legend tbody tr');
  const texts = await items.evaluateAll((elements) =>
    elements.map((element) => [
      element.getAttribute('title'),
      element.querySelector('.chart-legend-value')?.textContent,
    ]),
  );
  return Object.fromEntries(
    texts.map(([title, value]) => {
      const [, name = '', step] = /^(.*) at step (\d+)$/.exec(title ?? '') ?? [];
      // Numbers of a column are padded to the same number of decimals.
      const trimmed = (value ?? '').replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
      return [name, { step: Number(step), value: trimmed }];
    }),
  );
}
