/** How the report looks (themes, phone, print), and how a screen reader reads it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PHONE, browserTests, seen } from "./page.mjs";

const on = browserTests("people", "nothing", "blind", "two-hundred", "organization");
const AXE = readFileSync(join(import.meta.dirname, "node_modules", "axe-core", "axe.min.js"), "utf8");
const DARK = { colorScheme: "dark" };

/** Return the brightness of the page's background: 0 is black, 1 is white. */
const brightness = (page) =>
  page.evaluate(() => {
    const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number);
    return (red + green + blue) / 765;
  });

async function openAll(page) {
  const toggles = page.locator('[data-toggle][aria-expanded="false"]');
  for (let left = await toggles.count(); left > 0; left -= 1) {
    await toggles.first().evaluate((toggle) => toggle.click());
  }
}

for (const [scheme, other] of [["light", "dark"], ["dark", "light"]]) {
  on("people", `it is ${scheme} where the system is, ${other} at a press, and stays so`, async (page) => {
    const is = {
      light: async () => (await brightness(page)) > 0.85,
      dark: async () => (await brightness(page)) < 0.25,
    };
    await page.locator("[data-finding]:has(.spark) [data-toggle]").first().click();
    const canvas = page.locator(".chart canvas").first();
    const before = await canvas.evaluate((element) => element.toDataURL());
    assert.ok(await is[scheme]());
    await page.click("#theme");
    assert.ok(await is[other]());
    assert.notEqual(await canvas.evaluate((element) => element.toDataURL()), before, "the chart kept its colors");
    await page.reload();
    assert.ok(await is[other]());
    await page.click("#theme");
    assert.ok(await is[scheme]());
  }, { colorScheme: scheme });
}

on("people", "it follows the system that changes its theme", async (page) => {
  await page.emulateMedia({ colorScheme: "dark" });
  assert.ok((await brightness(page)) < 0.25);
});

/** Return elements that extend beyond the window and are neither clipped nor scrolled. */
const tooWide = (page) =>
  page.evaluate(() => {
    const cut = (element) =>
      element && (getComputedStyle(element).overflowX !== "visible" || cut(element.parentElement));
    return [...document.querySelectorAll("body *")]
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 1)
      .filter((element) => !cut(element.parentElement))
      .map((element) => `${element.tagName}.${element.className}: ${element.textContent.slice(0, 60)}`);
  });

for (const name of ["people", "nothing", "blind", "organization"]) {
  on(name, `a phone shows the report "${name}" without scrolling sideways, opened or not`, async (page) => {
    for (const step of [async () => {}, openAll]) {
      await step(page);
      const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.deepEqual([width, window], [PHONE.width, PHONE.width]);
      assert.deepEqual(await tooWide(page), []);
      const widths = await page.$$eval("body svg", (all) =>
        all.filter((svg) => svg.checkVisibility()).map((svg) => svg.getBoundingClientRect().width),
      );
      assert.ok(widths.every((width) => width >= 16), "a picture has no width");
    }
  }, { viewport: PHONE, isMobile: true, hasTouch: true });
}

on("people", "on a phone every cell of a table says what it is", async (page) => {
  const cells = await page.$$eval(".wide td", (all) =>
    all
      .filter((cell) => cell.checkVisibility())
      .map((cell) => {
        const column = cell.closest("table").querySelectorAll("thead th")[cell.cellIndex];
        return [getComputedStyle(cell, "::before").content, JSON.stringify(column.textContent.trim())];
      }),
  );
  assert.ok(cells.length > 10);
  for (const [said, column] of cells) assert.equal(said, column);
}, { viewport: PHONE, isMobile: true, hasTouch: true });

on("two-hundred", "a print says which pictures it leaves out", async (page) => {
  await page.emulateMedia({ media: "print" });
  // The page reacts to the print in its next frame.
  await page.locator(".chart").nth(199).waitFor({ state: "attached" });
  const charts = await page.$$eval(".chart", (all) =>
    all.map((chart) => (chart.querySelector("canvas") ? "drawn" : chart.textContent)),
  );
  assert.deepEqual(charts.slice(0, 150), Array(150).fill("drawn"));
  assert.deepEqual(charts.slice(150), Array(50).fill("Not drawn: a print has 150 pictures."));
});

on("people", "a finger can tap what is to be tapped, and a finding anywhere", async (page) => {
  const small = await page.$$eval("button:not([data-toggle]), select, input, summary", (all) =>
    all
      .filter((element) => element.checkVisibility())
      .map((element) => [element.textContent.slice(0, 30), element.getBoundingClientRect()])
      .filter(([, { width, height }]) => width < 24 || height < 24)
      .map(([text, { width, height }]) => `${text}: ${width} x ${height}`),
  );
  assert.deepEqual(small, []);
  const row = page.locator("[data-finding]").nth(1);
  await row.locator(".row").tap({ position: { x: 5, y: 5 } });
  assert.equal(await row.locator("[data-toggle]").getAttribute("aria-expanded"), "true");
}, { viewport: PHONE, isMobile: true, hasTouch: true });

on("people", "a print shows what opens, light, and nothing to press", async (page, { document: { findings } }) => {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.ok((await brightness(page)) > 0.85, "a dark print");
  for (const control of ["#search", "#sort", "#theme", "#clear", "select", "button.copy", "input"]) {
    assert.equal(await page.locator(control).filter({ visible: true }).count(), 0, `${control} is printed`);
  }
  for (const finding of findings) {
    const text = await page.locator(`[data-finding="${finding.id}"]`).innerText();
    for (const { command } of finding.recommendations) {
      assert.ok(text.includes(seen(command).slice(0, 40)), `${command} is not printed`);
    }
    assert.ok(text.includes(finding.resource.id), `${finding.resource.id} is not printed`);
  }
  const charts = await page.locator(".chart canvas").filter({ visible: true }).count();
  assert.ok(charts > findings.filter((f) => f.evidence.some((e) => e.series)).length);
  await page.emulateMedia({ media: "screen" });
  assert.equal(await page.locator(".chart").filter({ visible: true }).count(), 0, "all is open after the print");
  assert.ok((await brightness(page)) < 0.25, "light after the print");
}, DARK);

on("people", "a print names tags beside them, and fills the dots of severities", async (page) => {
  await page.emulateMedia({ media: "print" });
  await page.locator(".panel dl").first().waitFor();
  const [name, value] = await page.locator(".panel dl").first().evaluate((list) => {
    const tags = [...list.querySelectorAll("dt")].find((one) => one.textContent === "Tags");
    return [tags, tags.nextSibling].map((one) => one.getBoundingClientRect().toJSON());
  });
  assert.equal(Math.round(name.top), Math.round(value.top), "Tags stand in another row");
  assert.ok(name.right < value.left);
  const dot = await page.$eval(".severity.high", (one) => getComputedStyle(one, "::before").printColorAdjust);
  assert.equal(dot, "exact", "a printer leaves the dots empty");
});

on("people", "to print waits for the charts", async (page) => {
  await page.evaluate(() => {
    const blank = (canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return !data.some(Boolean);
    };
    addEventListener("beforeprint", () => {
      const canvases = [...document.querySelectorAll(".chart canvas")];
      window.printed = { charts: canvases.length, blank: canvases.filter(blank).length };
    });
  });
  const pdf = await page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  const { charts, blank } = await page.evaluate(() => window.printed);
  assert.ok(charts > 10, `${charts} charts`);
  assert.equal(blank, 0, "blank charts");
});

async function violations(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  const shown = ({ html, failureSummary }) => `${html.slice(0, 200)} (${failureSummary})`;
  return found.violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 5).map(shown).join("; ")}`);
}

const TALL = { width: 1280, height: 14_000 }; // axe judges only what is in the viewport
const LOOKS = {
  light: { viewport: TALL },
  dark: { viewport: TALL, ...DARK },
  phone: { viewport: { ...PHONE, height: 20_000 }, isMobile: true, hasTouch: true },
  "a dark phone": { viewport: { ...PHONE, height: 20_000 }, isMobile: true, hasTouch: true, ...DARK },
};

for (const [look, options] of Object.entries(LOOKS)) {
  on("people", `axe finds nothing serious: ${look}, closed, one finding open, filtered to nothing`, async (page) => {
    assert.deepEqual(await violations(page), []);
    await page.locator('[data-detector="ebs-instance-bound"] [data-toggle]').click();
    await page.locator("figure summary").first().click();
    await page.locator("details.calls summary").click();
    assert.deepEqual(await violations(page), []);
    await page.fill("#search", "no such thing");
    assert.deepEqual(await violations(page), []);
  }, options);
}

for (const name of ["nothing", "blind", "organization"]) {
  for (const look of ["light", "dark"]) {
    on(name, `axe finds nothing serious: ${look}, the report "${name}"`, async (page) => {
      for (const folded of await page.locator("details.folded summary").all()) await folded.click();
      assert.deepEqual(await violations(page), []);
    }, LOOKS[look]);
  }
}

on("people", "a screen reader gets the parts, findings and changes", async (page, { document: { findings } }) => {
  await page.getByRole("main").waitFor();
  assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1);
  const levels = await page.$$eval("h1, h2, h3, h4, h5, h6", (all) => all.map((heading) => Number(heading.tagName[1])));
  assert.ok(levels.slice(1).every((level, at) => level <= levels[at] + 1), `headings skip a level: ${levels}`);
  for (const name of ["gaps", "unknown", "cost"]) {
    assert.equal(await page.locator(`#${name}[aria-labelledby], #${name}[aria-label]`).count(), 1, name);
  }
  assert.equal(await page.getByRole("searchbox", { name: "Search" }).count(), 1);
  assert.equal(await page.getByRole("status").count(), 1);
  const names = await page.$$eval("[data-toggle]", (all) => all.map((toggle) => toggle.textContent.trim()));
  assert.ok(names.every(Boolean), "a button has no name");
  assert.equal(await page.getByRole("button", { expanded: false }).count(), findings.length);
});

on("people", "the money comes first, and gaps are above the findings", async (page, { document: { totals } }) => {
  const money = Number(totals.by_kind.waste.monthly_savings_usd).toLocaleString("en-US", { minimumFractionDigits: 2 });
  assert.match(await page.innerText("h1"), /^Save at least \$12\.8k a month · at least \$153k a year$/);
  assert.ok((await page.innerText("main > section")).includes(`waste: $${money} a month`));
  const height = await page.$eval("h1", (title) => title.getBoundingClientRect().height);
  assert.ok(height < 70, `the headline takes two lines: ${height} pixels`);
  const tops = await page.evaluate(() => {
    const parts = ["h1", "#gaps", "#findings"].map((part) => document.querySelector(part));
    return parts.map((part) => part.getBoundingClientRect().top);
  });
  assert.deepEqual(tops, tops.toSorted((a, b) => a - b));
  assert.ok(tops[0] < 300);
  assert.match(await page.innerText("main > section"), /2 inconclusive checks/);
  assert.match(await page.innerText("main > section"), /5 suppressed/);
  const gaps = [
    /elasticfilesystem:DescribeFileSystems/, /AccessDeniedException/, /compute-optimizer:GetEnrollmentStatus/,
  ];
  for (const part of gaps) assert.match(await page.innerText("#gaps"), part);
  assert.match(await page.innerText("#unknown"), /no metric for 9 of 36 days/);
  const costs = [/0\.00736 USD/, /\b66\b/, /\b736\b/, /524,338/];
  for (const part of costs) assert.match(await page.innerText("#cost"), part);
});
