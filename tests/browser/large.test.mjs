/** Large reports are small enough to send and open at once. The tests print times for people to judge. */
import assert from "node:assert/strict";
import { browserTests } from "./page.mjs";

const on = browserTests("thousand", "five-thousand");
const MOST_BYTES = 3_000_000;

/** Measure the milliseconds from the request to the first paint, and until the page's own script has run. */
async function openingTimes(page) {
  await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length);
  return page.evaluate(() => {
    const [{ domContentLoadedEventEnd, loadEventEnd }] = performance.getEntriesByType("navigation");
    const [{ startTime: painted }] = performance.getEntriesByName("first-contentful-paint");
    return { painted, ready: Math.max(domContentLoadedEventEnd, loadEventEnd) };
  });
}

/** Measure the milliseconds until the page has applied a control's new value and laid it out. */
const timed = (page, control, value) =>
  page.locator(control).evaluate((element, value) => {
    const begin = performance.now();
    element.value = value;
    element.dispatchEvent(new Event(element.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
    document.body.getBoundingClientRect();
    return performance.now() - begin;
  }, value);

for (const [name, count] of [["thousand", 1000], ["five-thousand", 5000]]) {
  on(name, `${count} findings open, are found, filtered, sorted and drawn`, async (page, { bytes, document, t }) => {
    const { findings } = document;
    const { painted, ready } = await openingTimes(page);
    assert.equal(await page.locator("[data-finding]").count(), count);
    // Chromium recounts list items for each one that hides. For thousands that would take a quarter of a minute.
    const displays = await page.$$eval("[data-finding]", (rows) => rows.map((row) => getComputedStyle(row).display));
    assert.ok(!displays.includes("list-item"));
    const searched = await timed(page, "#search", "store-77 ");
    const matching = findings.filter(({ resource }) => resource.name.includes("store-77"));
    const visible = () => page.$$eval("[data-finding]:not([hidden])", (rows) => rows.map((row) => row.dataset.finding));
    assert.deepEqual((await visible()).sort(), matching.map(({ id }) => id).sort());
    await timed(page, "#search", "");
    const filtered = await timed(page, 'select[data-filter="severity"]', "low");
    assert.equal((await visible()).length, count / 4);
    const sorted = await timed(page, "#sort", "saving");
    const byId = new Map(findings.map((finding) => [finding.id, Number(finding.monthly_savings_usd)]));
    const low = findings.filter(({ severity }) => severity === "low").map(({ id }) => byId.get(id));
    assert.deepEqual((await visible()).map((id) => byId.get(id)), low.sort((a, b) => b - a));
    const dearest = page.locator("[data-finding]:not([hidden])").first();
    await dearest.locator("[data-toggle]").click();
    await dearest.locator("pre").waitFor();
    const ms = (time) => `${Math.round(time)} ms`;
    t.diagnostic(
      `${count} findings, ${(bytes / 1e6).toFixed(2)} MB: painted after ${ms(painted)}, ready after ${ms(ready)}; ` +
        `searched in ${ms(searched)}, filtered in ${ms(filtered)}, sorted in ${ms(sorted)}`,
    );
  });
}

on("thousand", "a report of 1,000 findings stays under 3 MB, with every picture", async (page, { bytes }) => {
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes`);
  assert.equal(await page.locator("#left-out").count(), 0);
  const row = page.locator('[data-finding]:not([hidden])').last();
  await row.locator("[data-toggle]").click();
  assert.equal(await row.locator(".chart canvas").count(), 1);
});

on("five-thousand", "a report of 5,000 findings says which pictures it left out", async (page) => {
  const [said] = (await page.innerText("#left-out")).match(/[\d,]+/);
  const left = Number(said.replaceAll(",", ""));
  assert.ok(left > 0 && left < 5000);
  const drawn = await page.evaluate(() => {
    const { findings } = JSON.parse(document.querySelector("#details").textContent);
    return Object.values(findings).filter(({ evidence }) => evidence.some((fact) => fact.length > 2)).length;
  });
  assert.equal(drawn + left, 5000);
});
