import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeInBrowser, expectAccessible } from '../helpers/browser.ts';
import { startTestDashboard } from '../helpers/dashboard-server.ts';
import { writeFakeRun } from '../helpers/fake-run.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

describeInBrowser('a conversation with tools in the dashboard', (browser) => {
  test('shows turns, calls and results, filters by tool and error, and marks what the policy chose', async () => {
    const folder = makeTempFolder();
    writeFakeRun(join(folder, 'agent'), { tools: true, steps: 6 });
    const labels = join(folder, 'labels');
    const { url } = await startTestDashboard({ folders: [folder], page: undefined, labels });
    const page = await browser.open();
    await page.goto(url);
    await page.getByRole('link', { name: 'Samples' }).click();
    const count = page.locator('.samples-count');
    await expect.poll(() => count.textContent()).toBe('12 samples');

    await page.getByRole('combobox', { name: 'Error of a tool' }).selectOption('timeout');
    await expect.poll(() => count.textContent()).toBe('4 samples');
    await page.getByRole('textbox', { name: 'Name of a tool' }).fill('subtract');
    await expect.poll(() => count.textContent()).toBe('0 samples');
    await page.getByRole('textbox', { name: 'Name of a tool' }).fill('search');
    await expect.poll(() => count.textContent()).toBe('4 samples');

    await page.locator('.samples-list [role=row]').nth(1).click();
    const turns = page.getByRole('list', { name: 'Turns of the conversation' });
    await turns.waitFor();
    expect(await turns.getByText('Policy, turn 2').count()).toBe(1);
    expect(await turns.locator('code').first().textContent()).toBe('add({"a":1,"b":3})');
    expect(await turns.locator('.is-error').count()).toBe(1);
    expect(await turns.locator('.is-error .conversation-error').textContent()).toBe('timeout');
    expect(await turns.getByText('Thanks!').count()).toBe(1);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Tokens' }).click();
    const observed = page.locator('.tokens-observed');
    await observed.waitFor();
    expect(await observed.textContent()).toBe('<tool_response>4</tool_response>');
    // The text of the environment is no token: four can be chosen, and the third is after it.
    const options = page.locator('.tokens-list [role=option]');
    expect(await options.count()).toBe(4);
    await options.nth(2).click();
    await expect.poll(() => options.nth(2).getAttribute('aria-selected')).toBe('true');
    await expectAccessible(page);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
  });
});
