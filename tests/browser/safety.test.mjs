/** Resource names can do no harm, and the file needs and requests nothing but itself. */
import assert from "node:assert/strict";
import { browserTests, seen } from "./page.mjs";

const on = browserTests("people", "nothing");
const hostile = ({ findings }) => findings.filter(({ resource }) => !resource.name.startsWith("store-"));

on("people", "hostile names, tags, owners and reasons are shown as they are", async (page, { document }) => {
  for (const { id, resource, recommendations } of hostile(document)) {
    const row = page.locator(`[data-finding="${id}"]`);
    const name = seen(resource.name);
    assert.equal(await row.locator("[data-toggle]").textContent(), name);
    const closed = (await row.textContent()).split(name).length - 1;
    assert.ok(closed >= 3, `${name} is shown ${closed} times: not as name, owner and summary`);
    await row.locator("[data-toggle]").click();
    // The details contain facts, chart, level, recommendation, risk, caveat, price, ARN, owner and tags.
    const opened = (await row.textContent()).split(name).length - 1;
    assert.ok(opened >= closed + 12, `${name} is shown ${opened} times when opened`);
    assert.equal(await row.locator("pre").textContent(), seen(recommendations[0].command));
  }
  const ill = document.scan.gaps.find(({ what }) => what.startsWith("<img"));
  for (const part of ["#gaps", "#unknown"]) assert.ok((await page.textContent(part)).includes(ill.reason), part);
});

/** Count the elements, event handlers and links that a name could have added to the page. */
const made = (page) =>
  page.evaluate(() => ({
    scripts: document.scripts.length,
    styles: document.querySelectorAll("style, link[rel=stylesheet]").length,
    foreign: document.querySelectorAll(
      "img, iframe, object, embed, video, audio, textarea, form, base, area, portal, math",
    ).length,
    handlers: [...document.querySelectorAll("*")]
      .filter((element) => element.getAttributeNames().some((name) => name.startsWith("on"))).length,
    links: [...document.querySelectorAll("[href], [src], [action]")]
      .filter((element) => !/^(#|data:image\/)/.test(element.getAttribute("href") ?? "?")).length,
  }));

/** The report's own three scripts (theme, details and the rest) and one style. */
const OURS = { scripts: 3, styles: 1, foreign: 0, handlers: 0, links: 0 };

on("people", "hostile texts add no element, handler or link, whatever is pressed", async (page, { document }) => {
  const [first] = hostile(document);
  for (const { id, resource } of hostile(document)) {
    await page.locator(`[data-finding="${id}"] [data-toggle]`).click();
    await page.locator(`[data-finding="${id}"] figure summary`).click();
    await page.fill("#search", resource.name.replaceAll("\0", ""));
    await page.fill("#search", "");
  }
  for (const filter of await page.locator("select[data-filter]").all()) {
    for (let index = (await filter.locator("option").count()) - 1; index >= 0; index -= 1) {
      await filter.selectOption({ index });
    }
  }
  await page.selectOption("#sort", "name");
  await page.locator(`[data-finding="${first.id}"] .u-over`).hover();
  await page.emulateMedia({ media: "print" });
  await page.emulateMedia({ media: "screen" });
  assert.deepEqual(await made(page), OURS);
});

on("nothing", "a report without any name is made of the same", async (page) => {
  assert.deepEqual(await made(page), OURS);
});

on("people", "text from right to left turns nothing around it", async (page, { document }) => {
  const { id, resource } = hostile(document).find(({ resource }) => resource.name.startsWith("גיבוי"));
  const row = page.locator(`[data-finding="${id}"]`);
  await row.locator("[data-toggle]").click();
  const loose = await row.evaluate((element, name) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode;
      const { unicodeBidi } = getComputedStyle(parentElement);
      if (data.includes(name) && !["isolate", "plaintext", "isolate-override"].includes(unicodeBidi)) {
        found.push(parentElement.outerHTML.slice(0, 120));
      }
    }
    return found;
  }, seen(resource.name).slice(0, 5));
  assert.deepEqual(loose, []);
});

/** One console message for each kind of content that the page's Content Security Policy must refuse. */
const REFUSALS = [
  /inline script/, /inline event handler/, /Loading the script/, /Loading the stylesheet/, /Connecting to/,
  /Loading the image/, /Framing/, /Sending form data/,
];

on("people", "markup that got in all the same would run nothing, and fetch nothing", async (page, { troubles }) => {
  await page.evaluate(() => {
    const bad = "window.hacked = true";
    const elements = [
      `<img src="https://example.invalid/x" onerror="${bad}">`,
      `<svg onload="${bad}"></svg>`,
      '<form action="https://example.invalid/"></form>',
    ];
    document.body.insertAdjacentHTML("beforeend", elements.join(""));
    const script = document.createElement("script");
    script.textContent = bad;
    document.body.append(script);
    for (const [tag, key] of [["iframe", "src"], ["script", "src"], ["link", "href"]]) {
      const attributes = { [key]: "https://example.invalid/", rel: "stylesheet" };
      document.body.append(Object.assign(document.createElement(tag), attributes));
    }
    document.forms[0].submit();
    return fetch("https://example.invalid/").catch(() => {});
  });
  const missing = () => REFUSALS.filter((what) => !troubles.some((trouble) => what.test(trouble)));
  // A busy browser reports late.
  for (let tries = 0; missing().length && tries < 400; tries += 1) await page.waitForTimeout(50);
  assert.deepEqual(missing(), []);
  await page.goto("about:blank"); // a page that was left reports nothing more
  assert.deepEqual(troubles.splice(0).filter((trouble) => trouble.startsWith("asked")), []);
});

on("people", "without JavaScript all can be read, and nothing pretends to work", async (page, { document }) => {
  const money = (usd) => Number(usd).toLocaleString("en-US", { minimumFractionDigits: 2 });
  const total = money(document.totals.by_kind.waste.monthly_savings_usd);
  assert.ok((await page.innerText("main > section")).includes(total));
  for (const { id, resource, summary, monthly_savings_usd: usd, recommendations } of document.findings) {
    const row = page.locator(`[data-finding="${id}"]`);
    assert.ok(await row.isVisible());
    const text = await row.innerText();
    for (const part of [resource.name, summary].map(seen)) assert.ok(text.includes(part), part);
    const known = usd < 0 ? `+$${money(-usd)}` : Number(usd) ? `saves $${money(usd)}` : "costs nothing";
    const saving = usd === null ? "unknown" : known;
    if (recommendations.length) assert.ok(text.includes(saving), `${usd} in ${text}`);
  }
  assert.match(await page.innerText("#gaps"), /elasticfilesystem:DescribeFileSystems/);
  assert.match(await page.innerText("#unknown"), /no metric for 9 of 36 days/);
  for (const control of ["#search", "#sort", "#theme", ".tabs", ".copy >> nth=0"]) {
    assert.equal(await page.isVisible(control), false, control);
  }
}, { javaScriptEnabled: false });
